/** Sends requests to an application without a port: supertest opens a listener for each request and closes it again. */
import type { IncomingMessage, RequestListener } from "node:http";
import { buffer } from "node:stream/consumers";
import supertest, { type Test } from "supertest";

export interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged instead of `body`. A form is sent with its content type. */
  readonly raw?: string | Uint8Array | URLSearchParams | FormData;
  readonly filter?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  bytes(): Buffer;
  readonly text: string;
  /** The parsed JSON; undefined if the text is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies of every shape
  readonly body: any;
}

/** An application, or the URL of a process that listens. */
export type Target = RequestListener | string;

/** Bytes to send and their content type. */
async function encode({ body, raw }: RequestOptions): Promise<{ bytes: Buffer; type?: string } | undefined> {
  if (raw instanceof FormData || raw instanceof URLSearchParams) {
    const form = new Response(raw);
    const type = form.headers.get("content-type") ?? "";
    return { bytes: Buffer.from(await form.arrayBuffer()), type };
  }
  if (raw !== undefined) return { bytes: Buffer.from(raw as string), type: "application/json" };
  return body === undefined
    ? undefined
    : { bytes: Buffer.from(JSON.stringify(body)), type: "application/json" };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}

/** Collects the bytes of a body of any content type. */
const readBytes = (
  response: NodeJS.ReadableStream,
  done: (error: Error | null, body?: Buffer) => void,
): void => {
  buffer(response).then(
    (bytes) => done(null, bytes),
    (error: Error) => done(error),
  );
};

/**
 * Sends one request: `request(app, "GET /v4/regions")`. Redirects are not followed.
 *
 * @throws {Error} if the connection ends before the response does.
 */
export async function request(
  target: Target,
  call: string,
  options: RequestOptions = {},
): Promise<TestResponse> {
  const [method = "GET", path = "/"] = call.split(" ", 2);
  const { filter, headers } = options;
  const sent = await encode(options);
  const agent = supertest(target) as unknown as Record<string, (path: string) => Test>;
  const test = agent[method.toLowerCase()]?.(path);
  if (!test) throw new Error(`supertest has no method ${method}`);
  test
    .redirects(0)
    .ok(() => true)
    .buffer(true);
  test.parse(readBytes as unknown as Parameters<Test["parse"]>[0]).serialize((bytes) => bytes as string);
  if (sent?.type !== undefined) test.set("content-type", sent.type);
  if (filter !== undefined)
    test.set("x-filter", typeof filter === "string" ? filter : JSON.stringify(filter));
  test.set({ "user-agent": "node", ...headers });
  const response = await (sent ? test.send(sent.bytes) : test);
  const bytes = Buffer.isBuffer(response.body) ? response.body : Buffer.alloc(0);
  const text = bytes.toString("utf8");
  const { res: message } = response as unknown as { res: IncomingMessage };
  return {
    status: response.status,
    statusText: message.statusMessage ?? "",
    headers: readHeaders(message),
    bytes: () => bytes,
    text,
    body: parseJson(text),
  };
}
