import { JsonText } from "./json-text.ts";
import type { AuditRecord, RecordedBody } from "./record.ts";

const memberOf = (name: string, body: RecordedBody): string => {
  const text = body instanceof JsonText ? body.text : JSON.stringify(body);
  return text === undefined ? "" : `,"${name}":${text}`;
};

/** What is said in a call comes last, so that bodies can be put behind the rest as the texts they are. */
function callText({ body, response, ...rest }: AuditRecord["alpha"] | AuditRecord["v4"][number]): string {
  return `${JSON.stringify(rest).slice(0, -1)}${memberOf("body", body)}${memberOf("response", response)}}`;
}

/** A record as JSON. @throws {TypeError} where it is none. */
export function serializeRecord({ alpha, v4, ...rest }: AuditRecord): string {
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},"alpha":${callText(alpha)},"v4":[${v4.map(callText).join(",")}]}`;
}
