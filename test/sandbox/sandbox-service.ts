/** A sandbox with a clock that only tests advance. It is requested without a port. */
import { beforeAll, beforeEach } from "@jest/globals";
import type { ManualClock } from "../../src/sandbox/clock.ts";
import { manualClock } from "../support/manual-clock.ts";
import type { SandboxService, ServiceOptions, TokenName } from "../../src/sandbox/create-sandbox.ts";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { request, type RequestOptions, type TestResponse } from "../support/request.ts";
import { validateResponse } from "./openapi.ts";

export type Json = Record<string, unknown>;

export interface SandboxRequest extends RequestOptions {
  /** The name of a seeded token, `anonymous`, or a whole `Authorization` header. Default `full`. */
  readonly as?: TokenName | "anonymous" | { readonly authorization: string };
}

export interface SandboxResponse extends TestResponse {
  readonly body: Json;
}

export interface TestSandbox {
  readonly sandbox: SandboxService;
  readonly clock: ManualClock;
  /** `request("GET /vm/instances", …)`; a path without a version is one below `/v4`. */
  request(call: string, options?: SandboxRequest): Promise<SandboxResponse>;
}

/** Creates a sandbox. Its responses are compared with v4's description. */
export function createTestSandbox(options: ServiceOptions = {}): TestSandbox {
  const clock = manualClock();
  const sandbox = createSandbox({ clock, ...options });
  return {
    sandbox,
    clock,
    async request(call, { as = "full", ...sent } = {}) {
      const [method = "", path = ""] = call.split(" ");
      const target = /^\/v4(beta)?\//.test(path) ? path : `/v4${path}`;
      const response = await request(sandbox.listener, `${method} ${target}`, {
        ...sent,
        headers: { ...authorization(sandbox, as), ...sent.headers },
      });
      // The description uses the neutral product words.
      if (!options.words) validateResponse(call, response.status, response.body);
      return response;
    },
  };
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
  return response.body["data"] as Json[];
}

/** The fields of the errors in a response; `undefined` for an error without a field. */
export function errorFields(response: SandboxResponse): unknown[] {
  return (response.body["errors"] as Json[]).map(({ field }) => field);
}

/** A body that creates an instance with two disks. */
export const webServer = {
  type: "g6-standard-1",
  region: "us-east",
  image: "vm/debian11",
  root_pass: "S0me-long-Passw0rd",
};

/** Calls for an instance, or for a part of one. Their paths begin with its id. */
export const instanceCalls = (service: TestSandbox) => ({
  one: async (path: string, as: SandboxRequest["as"] = "full"): Promise<Json> =>
    (await service.request(`GET /vm/instances/${path}`, { as })).body,
  post: (path: string, body: Json = {}, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
    service.request(`POST /vm/instances${path && `/${path}`}`, { body, as }),
  all: async (path: string): Promise<Json[]> => items(await service.request(`GET /vm/instances/${path}`)),
});
