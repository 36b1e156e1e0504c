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

type JsonLimits = Parameters<typeof parseJson>[1];

/** Parses JSON that may be nested deeply. Numbers keep all their digits. @throws {SyntaxError} */
const parseRecorded = (text: string, limits?: JsonLimits): unknown =>
  parseJson(text, { ...limits, maxDepth: Infinity });

/** Returns the value of a text that is JSON, within some limits; undefined for any other text. */
export function tryParse(text: string, limits?: JsonLimits): { value: unknown } | undefined {
  try {
    return { value: parseRecorded(text, limits) };
  } catch {
    return undefined;
  }
}
