import { grow, type Text } from "./text.ts";

/** A request whose parts a search lets grow to the limits of the gateway. */
export interface Request {
  readonly method: string;
  /** Path with query. */
  readonly target: Text;
  readonly headers: readonly (readonly [name: string, value: Text])[];
  /** Additional header lines. */
  readonly lines?: Text;
  readonly body?: Text;
  /** Sends to the admin listener instead of the public one. */
  readonly admin?: true;
}

/** The size limits in bytes: `BODY_LIMIT`, and Node's limit for a request head. */
export interface SizeLimits {
  readonly body: number;
  readonly head: number;
}

/** Bytes for the rest of the head. */
const REST = 500;

/** The request as it is sent, in latin-1. */
export function bytesOf({ method, target, headers, lines, body }: Request, limits: SizeLimits): string {
  const head = limits.head - REST;
  const text = body === undefined ? undefined : grow(body, limits.body);
  const all = headers.map(([name, value]) => `${name}: ${grow(value, head)}\r\n`).join("");
  const more = lines === undefined ? "" : grow(lines, head);
  const length = text === undefined ? "" : `Content-Length: ${text.length}\r\n`;
  return `${method} ${grow(target, head)} HTTP/1.1\r\nHost: localhost\r\n${length}${all}${more}\r\n${text ?? ""}`;
}
