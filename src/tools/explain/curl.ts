import { shellQuote } from "./shell.ts";

/** A call as one would type it. */
export interface TypedCall {
  /** What stands before the path, for the shell to fill in: `$V4`. */
  readonly base: string;
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** Scheme of the credentials; the token itself is left to the reader's shell. Undefined: none are sent. */
  readonly scheme: string | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** JSON, or `@` and a file. */
  readonly body: string | undefined;
}

/** Writes a call for a shell. */
export function curl({ base, method, path, scheme, headers, body }: TypedCall): string {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"${base}"${shellQuote(path)}`,
    ...(scheme === undefined ? [] : [`-H "Authorization: ${scheme} $TOKEN"`]),
    ...given.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellQuote(body)}`]),
  ];
  return parts.join(" \\\n     ");
}
