import { describe, expect, test } from "@jest/globals";
import { compressSegment, tryDecompress } from "../../../src/audit/store/segment.ts";

const TEXT = Buffer.from("some records\n".repeat(30_000));
const PLACES = [{ start: 0, size: TEXT.length }];

describe("a segment", () => {
  test("is decompressed", async () => {
    expect(await tryDecompress(await compressSegment(TEXT), PLACES)).toEqual(TEXT);
  });

  test("is damaged if its bytes are changed, missing or too many", async () => {
    const stored = await compressSegment(TEXT);
    const isReadable = async (bytes: Uint8Array) => (await tryDecompress(bytes, PLACES)) !== undefined;
    // The last four bytes are the checksum.
    for (let index = 0; index < stored.length; index += 1) {
      const changed = Buffer.from(stored);
      changed[index] = ~(stored[index] ?? 0);
      expect([index, await isReadable(changed)]).toEqual([index, false]);
      expect([index, await isReadable(stored.subarray(0, index))]).toEqual([index, false]);
    }
    expect(await isReadable(await compressSegment(Buffer.concat([TEXT, TEXT])))).toBe(false);
  });

  test("is not taken for damaged after an error that is not about its bytes", async () => {
    // An error of memory can't be caused here.
    await expect(tryDecompress(5 as unknown as Uint8Array, PLACES)).rejects.toThrow(TypeError);
  });
});
