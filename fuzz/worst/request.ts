import { grow, type Text } from "./text.ts";

/** What a search may make grow, each to the limit that the gateway sets. */
export interface Request {
  readonly method: string;
  /** Path with query. */
  readonly target: Text;
  readonly headers: readonly (readonly [name: string, value: Text])[];
  /** Header lines, besides. */
  readonly lines?: Text;
  readonly body?: Text;
  /** The listener of admins in place of the public one. */
  readonly admin?: true;
}

/** Bytes below which a request passes the limits: `BODY_LIMIT`, and what Node takes for a head. */
export interface Room {
  readonly body: number;
  readonly head: number;
}

/** What the rest of a head needs. */
const REST = 500;

/** The request as it is sent, in latin-1. */
export function bytesOf({ method, target, headers, lines, body }: Request, room: Room): string {
  const head = room.head - REST;
  const text = body === undefined ? undefined : grow(body, room.body);
  const all = headers.map(([name, value]) => `${name}: ${grow(value, head)}\r\n`).join("");
  const more = lines === undefined ? "" : grow(lines, head);
  const length = text === undefined ? "" : `Content-Length: ${text.length}\r\n`;
  return `${method} ${grow(target, head)} HTTP/1.1\r\nHost: localhost\r\n${length}${all}${more}\r\n${text ?? ""}`;
}
