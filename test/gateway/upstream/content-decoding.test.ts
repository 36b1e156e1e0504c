import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { array, assert, asyncProperty, constantFrom, uint8Array } from "fast-check";
import { decodeContent } from "../../../src/gateway/upstream/content-decoding.ts";

const CODERS = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};
type Coding = keyof typeof CODERS;

test("L-2 decodes a body that was encoded up to twice", async () => {
  const codings = array(constantFrom(...(Object.keys(CODERS) as Coding[])), { maxLength: 2 });
  await assert(
    asyncProperty(uint8Array(), codings, async (bytes, names) => {
      let coded: Buffer = Buffer.from(bytes);
      for (const name of names) coded = CODERS[name](coded);
      expect(await decodeContent(coded, names.join(", "), 1000)).toEqual(Buffer.from(bytes));
    }),
  );
});

test.each([undefined, "", "identity", "Identity", " , identity ,"])(
  "treats %j as no encoding",
  async (coding) => {
    expect(await decodeContent(Buffer.from("as it is"), coding, 3)).toEqual(Buffer.from("as it is"));
  },
);

/** zlib's and the like's words for it. */
const BROKEN = /header|end of file|decompress|frame|block|data|descriptor/i;

describe("content decoding rejects", () => {
  test.each(Object.entries(CODERS))(
    "a decompression bomb in %s without exceeding the limit",
    async (name, code) => {
      const bomb = code(Buffer.alloc(10_000_000));
      await expect(decodeContent(bomb, name, 9_999_999)).rejects.toThrow(/larger|length/i);
      expect(await decodeContent(bomb, name, 10_000_000)).toHaveLength(10_000_000);
    },
  );

  test.each(Object.entries(CODERS))("an invalid or truncated %s body", async (name, code) => {
    await expect(decodeContent(Buffer.from("no such thing"), name, 1000)).rejects.toThrow(BROKEN);
    const whole = code(Buffer.from("a text of some length, a text of some length"));
    await expect(decodeContent(whole.subarray(0, whole.length - 5), name, 1000)).rejects.toThrow(BROKEN);
  });

  test("a zstd body of 27 bytes that asks for 128 MB of memory (RFC 9659)", async () => {
    const small = Buffer.from("28b52ffd00007800007b226c6162656c223a22616263227d010000", "hex");
    expect((await decodeContent(small, "zstd", 1000)).toString()).toBe('{"label":"abc"}');
    const WINDOW = 5;
    small[WINDOW] = 0x88;
    await expect(decodeContent(small, "zstd", 1000)).rejects.toThrow(/memory/i);
  });

  test.each(["rot13", "gzip;q=1", "__proto__", "constructor", "toString", "gzip, gzip, gzip"])(
    "the encoding %s",
    async (coding) => {
      await expect(decodeContent(Buffer.from("x"), coding, 1000)).rejects.toThrow(/coding/);
    },
  );
});
