import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import express, { type NextFunction, type Request, type Response } from "express";
import { clientAddresses } from "../rate-limit/client-address.ts";
import { cors, type CorsOptions } from "./cors.ts";
import { credentialScheme } from "./stages/parse-credentials.ts";
import { hasFragment, type AlphaResponse, type AlphaRequest, type FileResponse } from "./context.ts";
import { delayResponseEnd } from "./delay-response-end.ts";
import type { RequestBodies } from "./read-body.ts";
import type { AlphaHandler } from "./lifecycle.ts";
import { requestIdOf } from "./trace-context.ts";

export interface ListenerOptions {
  readonly handleAlpha: AlphaHandler;
  /** Scheme and prefix of the requests that are not translated, and who forwards them; undefined: nobody does. */
  readonly native:
    | { readonly scheme: string; readonly prefix: string; readonly forward: ForwardNative }
    | undefined;
  readonly bodies: RequestBodies;
  /** Whether the body of a request is a file, which is not read here. */
  readonly isFileUpload: (method: string, path: string) => boolean;
  readonly trustProxy: readonly string[];
  readonly cors: CorsOptions;
  /** The body of a 500, for what fails outside the road. */
  readonly failure: string;
  /** Hears of what fails there. */
  readonly onFailure: (error: unknown) => void;
}

/** Forwards a request of the native lane; `asked` is what the audit needs of it. */
export type ForwardNative = (request: IncomingMessage, response: ServerResponse, asked: AlphaRequest) => void;

const BODY_METHODS = new Set(["POST", "PUT", "PATCH"]);

/**
 * A path that is another one once its dots are followed; some server on the way would follow them, be it after
 * decoding, with backslashes taken for slashes, or with `;parameters` taken off.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:(?:;|%3b)[^/\\]*)?(?:[/\\]|%2f|%5c|$)/i;

/** Fires when the client goes away before it has its answer. */
function clientSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** Every line of a header by its lower-case name. Node's own `headersDistinct` goes through each name twice. */
function headerLines(raw: readonly string[]): Record<string, string[]> {
  const lines = Object.create(null) as Record<string, string[]>;
  for (let at = 1; at < raw.length; at += 2) {
    const name = raw[at - 1]?.toLowerCase() ?? "";
    const value = raw[at] ?? "";
    const before = lines[name];
    if (before) before.push(value);
    else lines[name] = [value];
  }
  return lines;
}

function plainRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { url, address }: Asker,
): AlphaRequest {
  const question = url.indexOf("?");
  const headers = headerLines(request.rawHeaders);
  return {
    id: requestIdOf(headers["x-request-id"]?.[0]),
    method: request.method ?? "",
    path: question < 0 ? url : url.slice(0, question),
    query: question < 0 ? "" : url.slice(question + 1),
    headers,
    address,
    signal: clientSignal(response),
  };
}

/** For how long the rest of a body that nobody reads is taken and thrown away. */
const LINGER_MS = 2000;

/**
 * A body that says it is longer ends its connection; of others the rest is taken, and the connection goes on.
 * In bytes.
 */
const SMALL_REST = 65_536;

/**
 * Ends the connection once the rest of a refused body is in, or has had its time. Ended at once, with bytes
 * unread, it would be reset, and the client could lose the answer that tells it why (RFC 9112 9.6).
 */
function endAfterBody(request: IncomingMessage, response: ServerResponse): void {
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  timer.unref();
  if (request.readableEnded) return end();
  request.once("end", end).once("close", end);
  request.resume();
}

/**
 * As fast as the client takes it. A file that breaks off breaks off the connection, so that the client sees it; so
 * does a record that must be durable first and can't be kept.
 */
function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, recorded }: AlphaResponse,
  { length, stream }: FileResponse,
): void {
  // Set before the head is written: only then is it known to whoever holds back the end.
  if (length !== undefined) response.setHeader("content-length", length);
  response.writeHead(status, headers);
  if (recorded) delayResponseEnd(response, () => recorded);
  if (request.method !== "HEAD") return void pipeline(stream, response, () => {});
  stream.destroy();
  response.end();
}

const hasSmallRest = ({ headers }: IncomingMessage): boolean =>
  Number(headers["content-length"] ?? 0) <= SMALL_REST;

/** Takes the rest of a body, so that the next request can be read; not for long. */
function takeRest(request: IncomingMessage): void {
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
  timer.unref();
  const end = () => clearTimeout(timer);
  request.once("end", end).once("close", end);
  request.resume();
}

/** `refusedBody`: what is left of the body is refused with it. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: AlphaResponse,
  refusedBody: boolean,
): void {
  if (response.destroyed || response.headersSent) return void answer.file?.stream.destroy();
  if (answer.file) return sendFile(request, response, answer, answer.file);
  const { status, phrase, headers, body } = answer;
  const head = ["content-length", String(body.length)];
  for (const name in headers) head.push(name, headers[name] ?? "");
  const unread = !request.complete;
  const lingers = refusedBody || (unread && !(response.shouldKeepAlive && hasSmallRest(request)));
  // What is left of a body that was refused half-read must not be taken for the next request.
  if (lingers) head.push("connection", "close");
  if (phrase === undefined) response.writeHead(status, head);
  else response.writeHead(status, phrase, head);
  if (!lingers) {
    response.end(body);
    if (unread) takeRest(request);
    return;
  }
  response.write(body);
  endAfterBody(request, response);
}

/**
 * Does the lane of v4's own clients take this request? The scheme tells, never the path alone: both live under one
 * prefix. A target with a fragment is none (RFC 9112 3.2): who takes it for the end of the path reads another one.
 */
function isNative(
  { headers, path, query }: AlphaRequest,
  { scheme, prefix }: { scheme: string; prefix: string },
): boolean {
  const lines = headers["authorization"] ?? [];
  return (
    lines.length === 1 &&
    credentialScheme(lines[0]) === scheme.toLowerCase() &&
    path.startsWith(`${prefix}/`) &&
    !DOT_SEGMENT.test(path) &&
    !hasFragment({ path, query })
  );
}

/** Who asks, and for what. */
interface Asker {
  readonly url: string;
  readonly address: string;
}

/**
 * The edge: turns HTTP requests into plain data, and plain answers into HTTP's. Nothing behind it knows HTTP.
 *
 * Express serves browser clients. A request for which it would do nothing goes past it.
 */
export function createListener(options: ListenerOptions): RequestListener {
  const { native, bodies, trustProxy, onFailure, failure } = options;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(cors(options.cors));
  const addressOf = clientAddresses(trustProxy);

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    { url, address }: Asker,
  ): Promise<void> {
    const asked = plainRequest(request, response, { url, address });
    if (native && isNative(asked, native)) return native.forward(request, response, asked);
    if (options.isFileUpload(asked.method, asked.path)) {
      const answer = await options.handleAlpha({ ...asked, upload: request });
      return send(request, response, answer, !request.readableEnded);
    }
    if (!BODY_METHODS.has(asked.method))
      return send(request, response, await options.handleAlpha(asked), false);
    const body = bodies.of(request);
    try {
      const answer = await options.handleAlpha({ ...asked, readBody: body.read });
      send(request, response, answer, body.failed());
    } finally {
      body.release();
    }
  }

  function fail(error: unknown, response: ServerResponse): void {
    onFailure(error);
    if (response.headersSent) return void response.destroy();
    response.writeHead(500, { "content-type": "application/json; charset=utf-8" }).end(failure);
  }

  const browsers = options.cors.origins.length > 0;
  return function edge(request, response) {
    const asker = { url: request.url ?? "", address: addressOf(request) };
    const go = (): void => {
      serve(request, response, asker).catch((error: unknown) => fail(error, response));
    };
    if (!browsers && request.method !== "OPTIONS") return go();
    // Express would answer a target that it can't parse in HTML, neither limited nor recorded: it sees none.
    request.url = "/";
    const next: NextFunction = (error?: unknown) => {
      request.url = asker.url;
      if (error === undefined) go();
      else fail(error, response);
    };
    app(request as Request, response as Response, next);
  };
}
