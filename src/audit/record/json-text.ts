import { parseJson } from "../../base/json/parse.ts";

/** The original bytes of a JSON body. They are not parsed before a store writes them. */
export class JsonText {
  readonly bytes: Buffer;

  /** @param json complete, valid JSON without secrets, as text or in UTF-8. Bytes must not change afterwards */
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

/** Returns the value of a text that is JSON; undefined for any other text. */
export function tryParse(text: string): { value: unknown } | undefined {
  try {
    return { value: parseRecorded(text) };
  } catch {
    return undefined;
  }
}
