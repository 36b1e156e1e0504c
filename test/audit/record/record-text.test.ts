import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { JsonText } from "../../../src/audit/record/json-text.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { RecordMemory } from "../../../src/audit/record/record-memory.ts";
import { serializeRecord } from "../../../src/audit/record/record-text.ts";
import { sampleRecord } from "./sample-record.ts";

/** A body as in a record: missing, JSON, or text. */
const body = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue(),
  fc.jsonValue().map((value) => new JsonText(JSON.stringify(value))),
);

const record = fc
  .tuple(fc.string(), body, body, fc.array(fc.tuple(body, body), { maxLength: 3 }))
  .map(([id, sent, response, calls]): AuditRecord => {
    const sample = sampleRecord(id);
    const [call] = sample.v4;
    if (!call) throw new Error("the sample has a call");
    return {
      ...sample,
      alpha: { ...sample.alpha, body: sent, response },
      v4: calls.map(([out, back]) => ({ ...call, body: out, response: back })),
    };
  });

test("a record's text is its JSON, for every form of its bodies", () => {
  fc.assert(
    fc.property(record, (each) => {
      const { chunk, start, size } = new RecordMemory().write(serializeRecord(each));
      const line = chunk.bytes.subarray(start, start + size);
      expect(line.indexOf("\n")).toBe(size - 1);
      expect(JSON.parse(line.toString())).toEqual(JSON.parse(JSON.stringify(each)));
    }),
  );
});
