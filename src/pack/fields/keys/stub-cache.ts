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
import type { OutputText } from "../../codegen/output-buffer.ts";
import type { ReadContext } from "../../translation-context.ts";

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
  const stubs = new ByteMap<CachedStub>([], MAX_STUBS);
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
    stubs.set(Uint8Array.from(bytes.subarray(start, end)), { id, members, text });
    return result;
  };
}
