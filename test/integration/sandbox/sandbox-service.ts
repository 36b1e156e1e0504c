/** Starts a sandbox with a clock that stands still, and talks to it as any client does: over HTTP. */

import type { ManualClock } from "../../../src/sandbox/clock.ts";
import { manualClock } from "../../../src/sandbox/clock.ts";
import type { Sandbox, SandboxOptions, TokenName } from "../../../src/sandbox/sandbox.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { validateResponse } from "./openapi.ts";

export type Json = Record<string, unknown>;

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface RequestOptions {
  /** The name of a seeded token, `anonymous`, or a whole `Authorization` header. Default `full`. */
  readonly as?: TokenName | "anonymous" | { readonly authorization: string };
  readonly body?: unknown;
  /** Sent as it is, where the body is to be no JSON. */
  readonly text?: string;
  /** A form with a file, or the bytes of one. */
  readonly upload?: FormData | Uint8Array;
  readonly filter?: unknown;
  readonly headers?: Record<string, string>;
}

export interface SandboxService {
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  /** `request("GET /vm/instances", …)`; `/v4` is put in front unless the path begins with it. */
  request(request: string, asking?: RequestOptions): Promise<SandboxResponse>;
  close(): Promise<void>;
}

export async function startSandboxService(options: SandboxOptions = {}): Promise<SandboxService> {
  const clock = manualClock();
  const sandbox = await startSandbox({ clock, ...options });
  return {
    sandbox,
    clock,
    async request(request, asking = {}) {
      const answer = await ask(sandbox, request, asking);
      // The description is written in the neutral words.
      if (!options.words) validateResponse(request, answer.status, answer.body);
      return answer;
    },
    close: () => sandbox.close(),
  };
}

async function ask(sandbox: Sandbox, request: string, asking: RequestOptions): Promise<SandboxResponse> {
  const [method = "", path = ""] = request.split(" ");
  const headers: Record<string, string> = { ...authorization(sandbox, asking), ...asking.headers };
  if (asking.filter !== undefined) {
    headers["x-filter"] = typeof asking.filter === "string" ? asking.filter : JSON.stringify(asking.filter);
  }
  const body =
    asking.upload ?? asking.text ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body));
  const response = await fetch(sandbox.url + (/^\/v4(beta)?\//.test(path) ? path : `/v4${path}`), {
    method,
    headers,
    ...(body !== undefined && { body: body as string | FormData }),
  });
  const text = await response.text();
  const answered = (text === "" ? {} : JSON.parse(text)) as Json;
  return { status: response.status, headers: response.headers, body: answered };
}

function authorization(sandbox: Sandbox, { as = "full" }: RequestOptions): Record<string, string> {
  if (as === "anonymous") return {};
  return typeof as === "object" ? as : { authorization: `Bearer ${sandbox.tokens[as]}` };
}

/** The items of a list answer. */
export function items(answer: SandboxResponse): Json[] {
  return answer.body["data"] as Json[];
}

/** The members that the errors of an answer name; `undefined` for an error that names none. */
export function errorFields(answer: SandboxResponse): unknown[] {
  return (answer.body["errors"] as Json[]).map(({ field }) => field);
}

/** A body that makes an instance with two disks. */
export const webServer = {
  type: "g6-standard-1",
  region: "us-east",
  image: "vm/debian11",
  root_pass: "S0me-long-Passw0rd",
};
