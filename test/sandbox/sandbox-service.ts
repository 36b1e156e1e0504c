/** A sandbox with a clock that only tests advance. It is requested without a port. */
import { beforeAll, beforeEach } from "@jest/globals";
import type { ManualClock } from "../../src/sandbox/clock.ts";
import { manualClock } from "../support/manual-clock.ts";
import type { SandboxService, ServiceOptions, TokenName } from "../../src/sandbox/create-sandbox.ts";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { request, type RequestOptions, type TestResponse } from "../support/request.ts";
import { validateResponse } from "./openapi.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies of every shape
export type Json = any;

export interface SandboxRequest extends RequestOptions {
  /** The name of a seeded token, `anonymous`, or a whole `Authorization` header. Default `full`. */
  readonly as?: TokenName | "anonymous" | { readonly authorization: string };
}

export type SandboxResponse = TestResponse;

/** Calls with one token: `ask("PUT /vm/instances/5201", { label: "a" })`. A path without a version is one below `/v4`. */
export interface Caller {
  ask(call: string, body?: unknown): Promise<SandboxResponse>;
  /** The body of the response. */
  read(call: string, body?: unknown): Promise<Json>;
  status(call: string, body?: unknown): Promise<number>;
  /** The fields of the errors in the response; `undefined` for an error without a field. */
  faults(call: string, body?: unknown): Promise<unknown[]>;
  /** The items of a list: `list("/vm/instances", { label: "a" })`. */
  list(path: string, filter?: unknown): Promise<Json[]>;
}

/** Its own calls have the token `full`. */
export interface TestSandbox extends Caller {
  readonly sandbox: SandboxService;
  readonly clock: ManualClock;
  request(call: string, options?: SandboxRequest): Promise<SandboxResponse>;
  as(who: NonNullable<SandboxRequest["as"]>): Caller;
}

function callerOf(send: (call: string, options: SandboxRequest) => Promise<SandboxResponse>): Caller {
  const ask = (call: string, body?: unknown) => send(call, { ...(body !== undefined && { body }) });
  return {
    ask,
    read: async (call, body) => (await ask(call, body)).body,
    status: async (call, body) => (await ask(call, body)).status,
    faults: async (call, body) => errorFields(await ask(call, body)),
    list: async (path, filter) => items(await send(`GET ${path}`, { filter })),
  };
}

/** Creates a sandbox. Its responses are compared with v4's description. */
export function createTestSandbox(options: ServiceOptions = {}): TestSandbox {
  const clock = manualClock();
  const sandbox = createSandbox({ clock, ...options });
  async function send(call: string, { as = "full", ...sent }: SandboxRequest = {}): Promise<SandboxResponse> {
    const [method = "", path = ""] = call.split(" ");
    const target = /^\/v4(beta)?\//.test(path) ? path : `/v4${path}`;
    const response = await request(sandbox.listener, `${method} ${target}`, {
      ...sent,
      headers: { ...authorization(sandbox, as), ...sent.headers },
    });
    // The description uses the neutral product words.
    if (!options.words) validateResponse(call, response.status, response.body);
    return response;
  }
  const as: TestSandbox["as"] = (who) => callerOf((call, sent) => send(call, { as: who, ...sent }));
  return { sandbox, clock, request: send, as, ...callerOf(send) };
}

/** What tests ask is asked of the sandbox that `prepare` created last. */
function createBy(prepare: (create: () => void) => void, options?: ServiceOptions): TestSandbox {
  let current: TestSandbox;
  prepare(() => {
    current = createTestSandbox(options);
  });
  return {
    get sandbox() {
      return current.sandbox;
    },
    get clock() {
      return current.clock;
    },
    request: (call, sent) => current.request(call, sent),
    as: (who) => callerOf((call, sent) => current.request(call, { as: who, ...sent })),
    ...callerOf((call, sent) => current.request(call, sent)),
  };
}

/** A new sandbox for each test of a file. */
export const sandboxForEachTest = (options?: ServiceOptions): TestSandbox => createBy(beforeEach, options);

/** One sandbox for all tests of a file. */
export const sandboxForAllTests = (options?: ServiceOptions): TestSandbox => createBy(beforeAll, options);

function authorization(
  { tokens }: SandboxService,
  as: NonNullable<SandboxRequest["as"]>,
): Record<string, string> {
  if (as === "anonymous") return {};
  return typeof as === "object" ? as : { authorization: `Bearer ${tokens[as]}` };
}

/** The items of a list. */
export function items(response: SandboxResponse): Json[] {
  return response.body.data;
}

/** The fields of the errors in a response; `undefined` for an error without a field. */
export function errorFields(response: SandboxResponse): unknown[] {
  return response.body.errors.map(({ field }: Json) => field);
}

/** A body that creates an instance with two disks. */
export const webServer = {
  type: "g6-standard-1",
  region: "us-east",
  image: "vm/debian11",
  root_pass: "S0me-long-Passw0rd",
};

/** Calls for an instance, or for a part of one. Their paths begin with its id. */
export const instanceCalls = (v4: TestSandbox) => ({
  one: (path: string, as: SandboxRequest["as"] = "full"): Promise<Json> =>
    v4.as(as).read(`GET /vm/instances/${path}`),
  post: (path: string, body: Json = {}, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
    v4.as(as).ask(`POST /vm/instances${path && `/${path}`}`, body),
  all: (path: string): Promise<Json[]> => v4.list(`/vm/instances/${path}`),
});
