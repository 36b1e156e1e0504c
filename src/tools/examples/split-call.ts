/** `GET /path?query`, as people write calls down, in a pack without the prefix. */
export interface WrittenCall {
  readonly method: string;
  readonly path: string;
}

/** Splits a written call and puts the prefix before the path where it is left out. */
export function splitCall(text: string, prefix: string): WrittenCall {
  const [method = "", path = ""] = text.trim().split(/\s+/, 2);
  return { method: method.toUpperCase(), path: path.startsWith(`${prefix}/`) ? path : prefix + path };
}
