import { parseJson } from "../../base/json/parse.ts";

/** A JSON body as its original bytes. It is not parsed before a store writes it. */
export class JsonText {
  readonly bytes: Buffer;

  /** @param json Complete, valid JSON without secrets, as text or in UTF-8. Bytes must not change afterwards. */
  constructor(json: string | Buffer) {
    this.bytes = typeof json === "string" ? Buffer.from(json) : json;
  }

  get text(): string {
    return this.bytes.toString();
  }

  toJSON(): unknown {
    return parseRecorded(this.text);
  }
}

/** Parses JSON that may be nested deeply. Numbers keep all their digits. @throws {SyntaxError} */
const parseRecorded = (text: string): unknown => parseJson(text, { maxDepth: Infinity });

/** The value of a text that is JSON. */
export function tryParse(text: string): { value: unknown } | undefined {
  try {
    return { value: parseRecorded(text) };
  } catch {
    return undefined;
  }
}
