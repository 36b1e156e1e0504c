/** The writer of responses copies bytes in groups: its bounds hold at every offset. */
import { describe, expect, test } from "@jest/globals";
import { paddedText } from "../../../src/base/json/padded-text.ts";
import { cursorAt } from "../../../src/base/json/scan.ts";
import { OutputBuffer, putRange, putTextOrNeutral, sizeOf } from "../../../src/pack/codegen/output-buffer.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import type { AppendFunction } from "../../../src/pack/translation-context.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";

const packOf = (small: SmallPack) => loadPack(writeSmallPack(small));

/** A buffer of which all but `free` bytes are used. */
function almostFull(free: number): OutputBuffer {
  const output = new OutputBuffer();
  output.append("x".repeat(output.bytes.length / 3 - 1));
  while (output.bytes.length - output.at > free) {
    output.bytes[output.at] = 0x78;
    output.commit(output.at + 1);
  }
  return output;
}

describe("copying a part of a text", () => {
  test("copies exactly these bytes, wherever they are in the text", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    for (let length = 4; length <= letters.length; length += 1) {
      // The text is in the middle of a larger buffer, as the body of a response is.
      const source = Buffer.from(`#######${letters.slice(0, length)}#######`).subarray(7, 7 + length);
      const cursor = cursorAt(source);
      for (let start = 0; start <= length; start += 1)
        for (let end = start; end <= length; end += 1) {
          const out = Buffer.alloc(64);
          const view = new DataView(out.buffer, out.byteOffset, out.length);
          expect(putRange(view, 3, cursor, start, end)).toBe(3 + end - start);
          expect(out.toString("latin1", 3, 3 + end - start)).toBe(letters.slice(start, end));
        }
    }
  });

  test("a response has a value that ends at any distance from the end of v4's response", async () => {
    const pack = packOf({ book: { fields: { id: "id", title: "a.b.c.name" } } });
    for (let length = 0; length < 20; length += 1)
      for (const space of ["", " ", "\n\n", "   "]) {
        const name = "x".repeat(length);
        const body = `{"id":1,"a":{"b":{"c":{"name":"${name}"}${space}}}}`;
        const run = createDryRun(pack, {
          call: async () => ({ status: 200, headers: {}, bytes: Buffer.from(body), ms: 0 }),
          close: async () => {},
        });
        const { status, body: sent } = (await run.send({ method: "GET", path: "/books/3" })).response;
        run.catalogs.stop();
        expect([status, sent]).toEqual([200, `{"id":1,"title":"${name}"}`]);
      }
  });
});

describe("writing into a buffer that is almost full", () => {
  const TEXTS = ["", "a", "null", "[]", "12345678", "123456789", "é", "€", "€".repeat(30), "x".repeat(100)];

  test("writes a text of any length at any place", () => {
    for (let free = 0; free < 24; free += 1)
      for (const text of TEXTS)
        for (const [given, neutral] of [
          [text, paddedText("")],
          [paddedText(text), paddedText("")],
          [undefined, paddedText(text)],
        ] as const) {
          const output = almostFull(free);
          const before = output.at;
          output.reserve(Math.max(sizeOf(given), neutral.length));
          output.commit(putTextOrNeutral(output, output.at, given, neutral));
          expect(output.takeText(before)).toBe(text);
          expect(output.takeText(before - 1)).toBe("x");
        }
  });

  const FIELDS = {
    a_long_name_of_a_member: "a",
    another_long_name_of_a_member: "b",
    list_of_one: { upstream: "c", as_array: true },
    "inner.member": { read: "$string(d)" },
    constant: { const: 1 },
  };
  const OBJECTS = [
    {},
    { a: 1 },
    { a: "é", b: [1, 2, 3], c: "c", d: "€€€€€€€€€€€€€€€€€€€€" },
    { b: null, c: null, d: 5 },
    { a: {}, d: "d".repeat(60) },
  ];

  test.each([false, true])("writes an object at any place (omit_null: %s)", (omit_null) => {
    const pack = packOf({ client: { responses: { omit_null } }, book: { fields: FIELDS } });
    const append = pack.resources.get("book")?.append as AppendFunction;
    const write = (object: unknown, output: OutputBuffer): string => {
      const before = output.at;
      expect(
        append(cursorAt(JSON.stringify(object)), { catalogs: new Map(), calls: {} } as never, output),
      ).toBe(undefined);
      return output.takeText(before);
    };
    for (const object of OBJECTS) {
      const expected = write(object, new OutputBuffer());
      for (let free = 0; free < 300; free += 1) expect(write(object, almostFull(free))).toBe(expected);
    }
  });

  test("reports more bytes than the buffer has", () => {
    const output = new OutputBuffer();
    output.commit(output.bytes.length);
    expect(() => output.commit(output.bytes.length + 1)).toThrow(RangeError);
  });
});

describe("taking what was written", () => {
  test("leaves the text before it, in a buffer of any size", () => {
    for (const length of [10, 16_384, 1_048_577, 3_000_000]) {
      const output = new OutputBuffer();
      output.append("before");
      output.append("x".repeat(length));
      expect(output.takeText(6)).toBe("x".repeat(length));
      expect(output.takeText(0)).toBe("before");
    }
  });

  test("gives bytes that later texts do not change", () => {
    const output = new OutputBuffer();
    output.append("first");
    const bytes = output.takeBytes(0);
    output.append("other");
    expect(bytes.toString()).toBe("first");
  });

  test("releases a large buffer once it is empty", () => {
    const output = new OutputBuffer();
    const { length } = output.bytes;
    output.append("x".repeat(2_000_000));
    output.takeText(0);
    expect(output.bytes.length).toBe(length);
  });
});
