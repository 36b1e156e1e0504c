/**
 * Caches the substitutes for values that a catalog does not contain, such as a retired image. All rows of a list often
 * contain the same few. Creating a substitute requires a `JSON.parse` of the whole row.
 */
import {
  ByteMap,
  type Cursor,
  isAt,
  isStringText,
  type JsonText,
  paddedText,
  type PaddedText,
  rawTextAt,
  stringFromJson,
} from "../../../base/index.ts";
import type { MaybePromise } from "../../../jsonata/index.ts";
import { parseAt } from "../../codegen/generate-reader.ts";
import type { OutputText } from "../../codegen/output-buffer.ts";
import type { ReadContext } from "../../translation-context.ts";

/**
 * Maximum length of a value whose result is cached: rows of a list repeat few of them. An IPv6 network with quotes has
 * up to 45 bytes.
 */
export const MAX_CACHED_LENGTH = 48;
export const MAX_CACHED_VALUES = 1000;

/**
 * Caches the results of a test by the bytes of its value, because rows of a list repeat few values. A missing value is
 * undefined.
 */
export function cacheTest(
  isLost: (value: unknown) => boolean,
): (cursor: Cursor, start: number, end: number) => boolean {
  const results = new ByteMap<boolean>();
  let ofMissing: boolean | undefined;
  return (cursor, start, end) => {
    if (end === 0) return (ofMissing ??= isLost(undefined));
    const cached = results.find(cursor.bytes, start, end);
    if (cached !== undefined) return cached;
    const result = isLost(parseAt(cursor, start, end));
    if (results.size === MAX_CACHED_VALUES) results.clear();
    if (end - start <= MAX_CACHED_LENGTH)
      results.set(Uint8Array.from(cursor.bytes.subarray(start, end)), result);
    return result;
  };
}

/** Translates the text of a v4 value to alpha. The whole v4 object is between `start` and `end` of the cursor. */
export type ReadStepFunction = (
  text: string,
  reading: ReadContext,
  cursor: Cursor,
  start: number,
  end: number,
) => MaybePromise<JsonText>;

/**
 * Returns the text of the alpha object of the v4 id between `start` and `end` of the cursor.
 *
 * @param offsets Start and end of each member that the substitute depends on: 0 and 0 if it is missing.
 * @param rowStart Start of the v4 object that contains the id and these members; `rowEnd` is its end.
 */
export type ExpandWithCache = (
  cursor: Cursor,
  start: number,
  end: number,
  offsets: readonly number[],
  reading: ReadContext,
  rowStart: number,
  rowEnd: number,
) => MaybePromise<OutputText>;

/** A substitute depends on the id, and on the members of the v4 object that the expression of the pack reads. */
interface CachedStub {
  readonly id: string;
  readonly members: readonly Uint8Array[];
  readonly text: PaddedText;
}

const MAX_STUBS = 1000;
const MAX_ID_BYTES = 100;
const MAX_STUB_BYTES = 4000;

const copyMembers = (bytes: Uint8Array, offsets: readonly number[]): Uint8Array[] =>
  offsets.flatMap((start, index) =>
    index % 2 === 0 ? [Uint8Array.from(bytes.subarray(start, offsets[index + 1]))] : [],
  );

function hasMembers({ members }: CachedStub, bytes: Uint8Array, offsets: readonly number[]): boolean {
  for (let index = 0; index < members.length; index += 1) {
    const [start, end] = [offsets[2 * index] as number, offsets[2 * index + 1] as number];
    const member = members[index] as Uint8Array;
    if (!isAt(member, bytes, start, end)) return false;
  }
  return true;
}

const stubBytes = (members: readonly Uint8Array[], text: PaddedText): number =>
  members.reduce((sum, { length }) => sum + length, text.length);

/**
 * Adds a cache to the step that expands an id. Each id has one entry, with the members that it was last used with. Each
 * hit first checks the current copy of the catalog, which may contain the id by now.
 */
export function cacheStubs({ name }: { readonly name: string }, expand: ReadStepFunction): ExpandWithCache {
  const stubs = new ByteMap<CachedStub>();
  return (cursor, start, end, offsets, reading, rowStart, rowEnd) => {
    const { bytes } = cursor;
    const cached = stubs.find(bytes, start, end);
    if (cached && hasMembers(cached, bytes, offsets) && !reading.catalogs.find(name, cached.id))
      return cached.text;
    const idText = rawTextAt(cursor, start, end);
    const result = expand(idText, reading, cursor, rowStart, rowEnd);
    if (typeof result !== "string" || !isStringText(idText) || end - start > MAX_ID_BYTES) return result;
    const id = stringFromJson(idText);
    if (reading.catalogs.find(name, id)) return result;
    const [members, text] = [copyMembers(bytes, offsets), paddedText(result)];
    if (stubBytes(members, text) > MAX_STUB_BYTES) return result;
    if (stubs.size === MAX_STUBS) stubs.clear();
    stubs.set(Uint8Array.from(bytes.subarray(start, end)), { id, members, text });
    return result;
  };
}
