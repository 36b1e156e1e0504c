/** The services that are compared, without a network: v4 is the sandbox, and alpha is a pack in front of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { buildFiles } from "../../src/pack/load/checked-pack.ts";
import { readPack, type PackFiles } from "../../src/pack/load/load-pack.ts";
import type { Pack } from "../../src/pack/load/pack.ts";
import type { Answer } from "../../src/compare/answers/comparison.ts";
import { createSandbox, type SandboxService } from "../../src/sandbox/create-sandbox.ts";
import { createDryRun } from "../../src/compare/dry-run/dry-run.ts";
import type { Upstream } from "../../src/gateway/upstream/http-call.ts";
import type { HttpRequest, HttpResponse } from "../../src/gateway/upstream/http-call.ts";

/** A client's request; `filter` is the value of its filter header. */
export interface ClientRequest {
  readonly path: string;
  readonly filter?: string;
}

/** Answers as alpha. */
export type Service = (request: ClientRequest) => Promise<Answer>;

/** Calls the sandbox without a connection. */
function callSandbox(
  sandbox: SandboxService,
  { method, path, headers, body }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve) => {
    let status = 0;
    let given: Record<string, string> = {};
    const request = {
      method,
      url: path,
      headers: { ...headers, authorization: `Bearer ${sandbox.tokens.full}` },
      socket: { remoteAddress: "192.0.2.1", destroy: () => undefined },
      async *[Symbol.asyncIterator]() {
        if (body !== undefined) yield Buffer.from(body);
      },
    };
    const response = {
      writeHead(code: number, fields: Record<string, string>) {
        status = code;
        given = Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]),
        );
      },
      end: (text: string | Uint8Array = "") => {
        resolve({ status, headers: given, bytes: Buffer.from(text), ms: 0 });
      },
      destroy: () => resolve({ status: 502, headers: {}, bytes: Buffer.alloc(0), ms: 0 }),
    };
    sandbox.listener(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
}

/** v4: reads are remembered until something is written, so that hundreds of thousands take minutes. */
export interface V4 extends Upstream {
  readonly sandbox: SandboxService;
  /** Writes as another program does. */
  write(method: string, path: string, body: unknown): Promise<void>;
}

/** The time at which all services start: nothing happens by itself. */
export const START = Date.parse("2026-06-01T12:00:00Z");

/** Creates v4. */
export function createV4(instances = 60): V4 {
  const sandbox = createSandbox({
    instances,
    clock: { now: () => START },
    rateLimit: { limit: Number.MAX_SAFE_INTEGER, seconds: 1 },
  });
  const remembered = new Map<string, HttpResponse>();
  return {
    sandbox,
    async call(request) {
      const { method, path, headers } = request;
      if (method !== "GET") return callSandbox(sandbox, request);
      const key = `${path} ${headers["x-filter"] ?? ""}`;
      const response = remembered.get(key) ?? (await callSandbox(sandbox, request));
      if (remembered.size < 5000) remembered.set(key, response);
      return response;
    },
    async write(method, path, body) {
      const response = await callSandbox(sandbox, {
        method,
        path,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (response.status >= 400)
        throw new Error(`${method} ${path}: ${response.status} ${response.bytes.toString()}`);
      remembered.clear();
    },
    close: () => Promise.resolve(),
  };
}

/** The files of the product's pack. */
export const readFiles = (): PackFiles => readPack("mappings");

/** Builds a pack in which one text of a file is another one. @throws {Error} if the file does not have the text */
export function editPack(
  { directory, files }: PackFiles,
  edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[],
): Pack {
  let edited = [...files];
  for (const { file, find, replace } of edits) {
    const isHere = ({ file: name, text }: PackFiles["files"][number]): boolean =>
      name.endsWith(`/${file}`) && text.includes(find);
    if (!edited.some(isHere)) throw new Error(`${file} does not have ${find}`);
    edited = edited.map((each) =>
      isHere(each) ? { ...each, text: each.text.replaceAll(find, () => replace) } : each,
    );
  }
  return buildFiles({ directory, files: edited });
}

/** Creates the service of a pack. */
export async function createService(pack: Pack, v4: Upstream): Promise<Service> {
  const run = createDryRun(pack, v4);
  await run.catalogs.refresh();
  run.catalogs.stop();
  return async ({ path, filter }) => {
    const { response } = await run.send({
      method: "GET",
      path,
      headers: filter === undefined ? {} : { "X-Filter": filter },
    });
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    return { status: response.status, headers, body: Buffer.from(response.body) };
  };
}
