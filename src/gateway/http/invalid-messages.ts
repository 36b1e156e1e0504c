/** Messages that the server rejects itself, before any handler runs. */
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { requestIdOf } from "./request-context.ts";

/** The reason of a rejection. It becomes the reason in the metrics. */
export type MessageFault = "connect" | "head_size" | "malformed";

/** A rejected message. */
interface RejectedMessage {
  readonly fault: MessageFault;
  readonly status: number;
  /**
   * The id of its response. It is never the client's id, which could be its token, because this code does not search
   * for secrets.
   */
  readonly id: string;
  readonly socket: Socket;
}

/** The JSON body of a response, and its media type. */
interface RejectionBody {
  readonly type: string;
  readonly text: string;
}

/** The options for handling such messages. */
export interface MessageRejection {
  readonly badRequest: (fault: MessageFault) => RejectionBody;
  /** Called for each rejected message, unless its client disconnected. */
  readonly onRejected?: (message: RejectedMessage) => void;
}

/** A request whose response has not ended. */
export interface InFlightRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Whether the bytes follow a request whose connection ends after its response. They are ignored (RFC 9112 9.6). v4 may
 * have executed the request, so its client must get the response.
 */
const isBehindLastRequest = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === "HPE_CLOSED_CONNECTION";

/** Returns the reason of the parser's rejection. Undefined for a client that disconnects or is too slow. */
function faultOf({ code = "" }: NodeJS.ErrnoException): MessageFault | undefined {
  if (code === "HPE_HEADER_OVERFLOW") return "head_size";
  return code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE" ? "malformed" : undefined;
}

/** Sends the response to a rejected message, and reports it. @param fault undefined if the client disconnected */
function rejectMessage(
  { badRequest, onRejected }: MessageRejection,
  fault: MessageFault | undefined,
  socket: Socket,
) {
  const id = requestIdOf(undefined);
  const status = fault === "head_size" ? 431 : 400;
  if (fault) onRejected?.({ fault, status, id, socket });
  const { type, text } = badRequest(fault ?? "malformed");
  const head = {
    "Content-Type": type,
    "X-Request-Id": id,
    "Content-Length": String(Buffer.byteLength(text)),
  };
  return { status, head, text };
}

/**
 * Responds in JSON to messages that the parser rejects and to `CONNECT`, and closes the connection, because its next
 * bytes can't be trusted. While the response to a complete request is in progress, the connection is closed without a
 * message. Otherwise, the client would mistake the error for that response, or for a part of it.
 *
 * @param inFlightOf returns the requests of a connection, in order
 */
export function rejectUnreadable(
  server: Server,
  inFlightOf: (socket: Socket) => readonly InFlightRequest[],
  rejection: MessageRejection,
): void {
  function reject(socket: Socket, fault: MessageFault | undefined): void {
    const { status, head, text } = rejectMessage(rejection, fault, socket);
    const [first, ...others] = inFlightOf(socket);
    const isOthers = first && (first.request.complete || first.response.headersSent || others.length > 0);
    if (!socket.writable || isOthers) return void socket.destroy();
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
    const start = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
    socket.end([start, ...lines, "Connection: close", "", text].join("\r\n"));
  }

  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!isBehindLastRequest(error)) reject(socket, faultOf(error));
  });
  // Without this listener, Node silently closes the connection. With it, no other code handles the socket.
  server.on("connect", (_request: IncomingMessage, socket: Socket) => {
    socket.on("error", () => {}).resume();
    reject(socket, "connect");
    socket.destroySoon();
  });
}

/** Servers of applications that {@link ignoreBehindLastRequest} has changed. */
const changedServers = new WeakSet<object>();

/**
 * Makes the server of an application ignore bytes after a request whose connection ends with its response. Node would
 * replace the response with a 400. A listener is not enough: the application may have its own, and Node only rejects
 * other invalid messages if there is no listener.
 */
export function ignoreBehindLastRequest(socket: Socket & { readonly server?: Server }): void {
  const { server } = socket;
  if (!server || changedServers.has(server)) return;
  changedServers.add(server);
  const emit = server.emit.bind(server) as (event: string, ...values: unknown[]) => boolean;
  server.emit = (event: string, ...values: unknown[]) =>
    (event === "clientError" && isBehindLastRequest(values[0])) || emit(event, ...values);
}

/** Responds to an invalid message that the parser accepted. The caller closes the connection. */
export function rejectInvalid(
  { socket }: IncomingMessage,
  response: ServerResponse,
  rejection: MessageRejection,
): void {
  const { status, head, text } = rejectMessage(rejection, "malformed", socket);
  response.writeHead(status, head).end(text);
}
