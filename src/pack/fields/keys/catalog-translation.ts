/** How the ids of a catalog are translated, and expanded to its objects. */
import type { JsonText, PaddedText } from "../../../base/index.ts";
import type { MaybePromise } from "../../../jsonata/index.ts";
import type { CatalogCopy, ReadContext } from "../../translation-context.ts";

/** The part of a catalog that the translation of fields needs. */
export interface CatalogTranslation {
  readonly name: string;
  /** Translates a v4 id to alpha. */
  alphaId(v4Id: string): string;
  /** Translates the id of a request to v4; undefined if it does not exist. */
  v4Id(requested: string, copy: CatalogCopy): string | undefined;
  /** All v4 ids of the id of a filter; undefined if it does not exist. Ids that only occur in responses are valid, too. */
  filterIds(requested: string, copy: CatalogCopy): readonly string[] | undefined;
  /** v4 ids with this prefix are shown as null. */
  readonly hiddenPrefix: string | undefined;
  /** Whether alpha and v4 ids differ, so that their sort order differs. */
  readonly renames: boolean;
  /** Whether the pack has no alpha id for a v4 id. */
  hasNoAlphaId(v4Id: unknown): boolean;
  /** Returns the text of the alpha object of a v4 id. `row` returns the text of the v4 object that refers to it. */
  readonly expand: (v4Id: JsonText, row: () => string, reading: ReadContext) => MaybePromise<JsonText>;
  /**
   * Returns the cached UTF-8 text of the alpha object, if there is one. The v4 id is in `bytes`, from `start` to
   * `end`.
   */
  readonly cachedText: (
    bytes: Uint8Array,
    start: number,
    end: number,
    reading: ReadContext,
  ) => PaddedText | undefined;
  /** Whether `expand` may return a promise. */
  readonly mayBeAsync: boolean;
  /** Returns the text of a list of alpha objects. Hidden and unknown ones are omitted. */
  readonly expandAll: (v4Ids: readonly string[], reading: ReadContext) => string;
  /** Members of the v4 object that `stub` reads; undefined if it may read all of them. */
  readonly stubMembers: readonly string[] | undefined;
  /** Returns the text of a substitute object for an id that the cache does not have. */
  stub(v4Id: string, row: unknown): MaybePromise<JsonText>;
}
