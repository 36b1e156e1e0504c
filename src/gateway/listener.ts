import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import { cors, type CorsOptions } from "./cors.ts";
import { credentialScheme } from "./credentials.ts";
import type { AlphaAnswer, AlphaRequest } from "./exchange.ts";
import { readBytes } from "./read-bytes.ts";
import type { Road } from "./road.ts";
import { requestIdOf } from "./trace.ts";

export interface ListenerOptions {
  readonly road: Road;
  /** Scheme and prefix of the requests that are not translated, and who forwards them; undefined: nobody does. */
  readonly native:
    | { readonly scheme: string; readonly prefix: string; readonly forward: NativeForward }
    | undefined;
  readonly bodyLimit: number;
  readonly trustProxy: readonly string[];
  readonly cors: CorsOptions;
  /** The body of a 500, for what fails outside the road. */
  readonly failure: string;
  /** Hears of what fails there. */
  readonly onFailure: (error: unknown) => void;
}

/** Forwards a request of the native lane; `asked` is what the audit needs of it. */
export type NativeForward = (request: Request, response: Response, asked: AlphaRequest) => void;

const BODY_METHODS = new Set(["POST", "PUT", "PATCH"]);

/**
 * A path that is another one once its dots are followed; some server on the way would follow them, be it after
 * decoding, with backslashes taken for slashes, or with `;parameters` taken off.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:(?:;|%3b)[^/\\]*)?(?:[/\\]|%2f|%5c|$)/i;

/** Fires when the client goes away before it has its answer. */
function clientSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** On a listener of both families an IPv4 client comes in IPv6's clothes (RFC 4291 2.5.5.2). */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

function plainRequest(request: Request, response: Response): Omit<AlphaRequest, "body"> {
  const url = request.originalUrl;
  const question = url.indexOf("?");
  const headers = request.headersDistinct;
  return {
    id: requestIdOf(headers["x-request-id"]?.[0]),
    method: request.method,
    path: question < 0 ? url : url.slice(0, question),
    query: question < 0 ? "" : url.slice(question + 1),
    headers,
    address: plainAddress(request.ip ?? ""),
    signal: clientSignal(response),
  };
}

/** For how long the rest of a body that was refused is read and thrown away. */
const LINGER_MS = 2000;

/**
 * Ends the connection once the rest of a refused body is in, or has had its time. Ended at once, with bytes
 * unread, it would be reset, and the client could lose the answer that tells it why (RFC 9112 9.6).
 */
function endAfterBody(request: Request, response: Response): void {
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

function send(request: Request, response: Response, answer: AlphaAnswer, refusedBody: boolean): void {
  if (response.destroyed || response.headersSent) return;
  const { status, phrase, body } = answer;
  const headers = {
    ...answer.headers,
    "content-length": String(Buffer.byteLength(body)),
    // What is left of a body that was refused half-read must not be taken for the next request.
    ...(refusedBody && { connection: "close" }),
  };
  if (phrase === undefined) response.writeHead(status, headers);
  else response.writeHead(status, phrase, headers);
  if (!refusedBody) return void response.end(body);
  response.write(body);
  endAfterBody(request, response);
}

/** Does the lane of v4's own clients take this request? The scheme tells, never the path alone: both live under one prefix. */
function isNative(
  { headers, path }: Omit<AlphaRequest, "body">,
  { scheme, prefix }: { scheme: string; prefix: string },
): boolean {
  const lines = headers["authorization"] ?? [];
  return (
    lines.length === 1 &&
    credentialScheme(lines[0]) === scheme.toLowerCase() &&
    path.startsWith(`${prefix}/`) &&
    !DOT_SEGMENT.test(path)
  );
}

/** The edge: turns Express's requests into plain data, and plain answers into Express's. Nothing behind it knows HTTP. */
export function createListener(options: ListenerOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", options.trustProxy.length > 0 ? [...options.trustProxy] : false);
  app.use(cors(options.cors));

  const serve: RequestHandler = async (request, response) => {
    const asked = plainRequest(request, response);
    if (options.native && isNative(asked, options.native)) {
      options.native.forward(request, response, { ...asked, body: undefined });
      return;
    }
    const read = BODY_METHODS.has(request.method)
      ? await readBytes(request, options.bodyLimit)
      : { body: undefined };
    send(request, response, await options.road({ ...asked, ...read }), read.bodyRefusal !== undefined);
  };
  app.use(serve);

  const lastResort: ErrorRequestHandler = (error, _request, response, _next) => {
    options.onFailure(error);
    if (response.headersSent) response.destroy();
    else response.status(500).type("json").end(options.failure);
  };
  app.use(lastResort);
  return app;
}
