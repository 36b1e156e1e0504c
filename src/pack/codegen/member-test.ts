/** Tests of one member of the v4 object, cached by the bytes of its value: rows of a list repeat few values. */
import { ByteMap, type Cursor } from "../../base/index.ts";
import { emitIsObject } from "./emit-tests.ts";
import { parseAt, type ReaderUnit } from "./generate-reader.ts";
import type { ByteRange } from "./member-scan.ts";

/** Results of short values are cached. An IPv6 network with quotes has up to 45 bytes. */
export const MAX_CACHED_LENGTH = 48;
export const MAX_CACHED_VALUES = 1000;

type CachedTest = (cursor: Cursor, start: number, end: number) => boolean;

/** Caches a test by the bytes of the value. A missing value is undefined. */
function cacheTest(test: (value: unknown) => boolean): CachedTest {
  const results = new ByteMap<boolean>([], MAX_CACHED_VALUES);
  let ofMissing: boolean | undefined;
  return (cursor, start, end) => {
    if (end === 0) return (ofMissing ??= test(undefined));
    const cached = results.find(cursor.bytes, start, end);
    if (cached !== undefined) return cached;
    const result = test(parseAt(cursor, start, end));
    if (end - start <= MAX_CACHED_LENGTH)
      results.set(Uint8Array.from(cursor.bytes.subarray(start, end)), result);
    return result;
  };
}

/** Emits a cached test of the value in a range. */
export const emitValueTest = (
  test: (value: unknown) => boolean,
  { start, end }: ByteRange,
  { builder }: Pick<ReaderUnit, "builder">,
): string => `${builder.constant(cacheTest(test))}(cursor, ${start}, ${end})`;

/**
 * Emits a cached test of an object that reads one member of it.
 *
 * @param test Gets an object with this member alone.
 * @param general Emits the test of the whole object. It runs where the member is in no object, but in a list for example.
 */
export function emitMemberTest(
  path: readonly string[],
  test: (object: unknown) => boolean,
  general: () => string,
  unit: Pick<ReaderUnit, "builder" | "scanned">,
): string {
  const objectWith = (value: unknown): unknown =>
    path.reduceRight((inner, name) => ({ [name]: inner }), value);
  const { scanned } = unit;
  const cached = emitValueTest((value) => test(objectWith(value)), scanned.range(path), unit);
  const parents = path.slice(0, -1).map((_name, index) => scanned.range(path.slice(0, index + 1)));
  if (parents.length === 0) return cached;
  return `(${parents.map(emitIsObject).join(" && ")} ? ${cached} : ${general()})`;
}
