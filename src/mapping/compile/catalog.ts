import { parseJson, printJson } from "../../dialect/json/parse.ts";
import { detachString, isStringText, fromJsonText, type JsonText } from "../../dialect/json/text.ts";
import { mapMaybe, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import type { CatalogDefinition } from "../schema/definition.ts";
import { compileExpressionAt, resolveReference, type SourceLocation } from "../load/source-location.ts";
import type { CatalogCopy, CatalogEntry, JsonObject, ReadContext } from "../translation-context.ts";
import type { ValueKind } from "./value-kinds.ts";

/** Parses the text of an alpha object and copies it into one string, because it goes into many responses. */
export function createCatalogEntry(text: string): CatalogEntry {
  const detached = detachString(text);
  return { object: parseJson(detached) as JsonObject, text: detached };
}

/** One v4 list that a catalog is read from. */
export interface CatalogCall {
  readonly path: string;
  /** Condition of the filter header, or undefined. */
  readonly filter: unknown;
  /** A service without this list has an empty one. */
  readonly optional: boolean;
  /** False: only known where something refers to it. */
  readonly listed: boolean;
}

/** A catalog of things that v4 names by id and alpha shows whole. */
export interface Catalog {
  readonly name: string;
  readonly calls: readonly CatalogCall[];
  /** v4 ids of the whole list where the pack fixes it, in the pack's order. */
  readonly fixedIds: readonly string[] | undefined;
  /** More names for filters, each the opposite of a boolean field. */
  readonly opposites: Readonly<Record<string, string>>;
  alphaId(v4Id: string): string;
  /** The v4 id that a request means, or undefined for one that does not exist. */
  v4Id(asked: string, copy: CatalogCopy): string | undefined;
  /** The v4 id that a filter means: one that only answers show will do as well. */
  filterId(asked: string, copy: CatalogCopy): string | undefined;
  /** v4 ids that begin so are shown as null. */
  readonly hiddenPrefix: string | undefined;
  /** Whether ids differ between the sides, so that they sort differently. */
  readonly renames: boolean;
  /** The text of the alpha object of a v4 id; `row` gives the text of the v4 object that names it. */
  readonly expand: (v4Id: JsonText, row: () => string, reading: ReadContext) => MaybePromise<JsonText>;
  /** The same of the id between two places, as UTF-8, where nothing has to be made for it. */
  readonly cachedText: (
    bytes: Uint8Array,
    start: number,
    end: number,
    reading: ReadContext,
  ) => Uint8Array | undefined;
  /** Whether that may come later. */
  readonly mayBeAsync: boolean;
  /** Whether alpha never sees the thing of this v4 id. */
  isHidden(v4Id: unknown): boolean;
  /** The text of a list of them; hidden and unknown ones are left out. */
  readonly expandAll: (v4Ids: readonly string[], reading: ReadContext) => string;
  /** Which of its items may be kept where it was read with a client's token; undefined where no token may be used. */
  readonly keepsItem: ((item: unknown) => MaybePromise<boolean>) | undefined;
  /** The whole list where the pack fixes its ids, made without v4; undefined where it doesn't. */
  fixedList(): Promise<CatalogEntry[]> | undefined;
  /** The text of what stands for an id that the copy does not have. */
  stub(v4Id: string, row: unknown): MaybePromise<JsonText>;
}

/** Only GET can be read in the background. */
function callPath(call: string, location: SourceLocation): string {
  const path = /^GET (\/\S+)$/.exec(call)?.[1];
  if (path === undefined) location.report(`"${call}" is not GET /path`);
  return path ?? "/";
}

interface Context {
  readonly values: ReadonlyMap<string, ValueKind>;
  /** Reads tables inside expressions: `$values("kind", value)`. */
  readonly lookup: (kind: string, value: unknown) => unknown;
}

/** Compiles the catalog of one resource. */
export function compileCatalog(
  name: string,
  definition: CatalogDefinition,
  context: Context,
  location: SourceLocation,
): Catalog {
  const { accepts = {}, closed = false, hidden_prefix: hidden, ignore_case: ignoreCase = false } = definition;
  const ids =
    definition.ids === undefined
      ? undefined
      : resolveReference(location.at("ids"), "value kind", definition.ids, context.values);
  const fold = (id: string) => (ignoreCase ? id.toLowerCase() : id);
  const aliases = new Map(Object.entries(accepts).map(([alias, v4Id]) => [fold(alias), v4Id]));
  const stub = compileExpressionAt(location.at("stub"), definition.stub, ["id", "name", "values"]);
  const alphaId = (v4Id: string): string => (ids?.lookup(v4Id) as string | undefined) ?? v4Id;
  const isHidden = (v4Id: unknown): boolean =>
    hidden !== undefined && typeof v4Id === "string" && v4Id.startsWith(hidden);

  const stubFor = (v4Id: string, row: unknown): MaybePromise<JsonText> =>
    stub.print(row, { id: v4Id, name: alphaId(v4Id), values: context.lookup });

  const hiddenBytes = Buffer.from(hidden === undefined ? "" : printJson(hidden).slice(0, -1));
  function isHiddenAt(bytes: Uint8Array, start: number): boolean {
    for (let at = 0; at < hiddenBytes.length; at += 1)
      if (bytes[start + at] !== hiddenBytes[at]) return false;
    return hiddenBytes.length > 0;
  }

  const textOf = (id: string, { catalogs }: ReadContext): JsonText =>
    isHidden(id) ? null : catalogs.find(name, id)?.text;

  function expand(v4Id: JsonText, row: () => string, reading: ReadContext): MaybePromise<JsonText> {
    if (v4Id === null || v4Id === undefined || !isStringText(v4Id)) return null;
    const id = fromJsonText(v4Id) as string;
    const found = textOf(id, reading);
    return found === undefined ? stubFor(id, fromJsonText(row())) : found;
  }

  function v4Id(asked: string, copy: CatalogCopy): string | undefined {
    const known = aliases.get(fold(asked)) ?? ids?.v4ByAlpha.get(asked);
    if (known !== undefined) return known as string;
    const spelt = ignoreCase ? (copy.canonicalSpelling(name, asked) ?? asked) : asked;
    if (closed || alphaId(spelt) !== spelt || isHidden(spelt)) return undefined;
    return copy.find(name, spelt) || !copy.isLoaded(name) ? spelt : undefined;
  }

  const kept =
    definition.with_token === undefined
      ? undefined
      : compileExpressionAt(location.at("with_token"), definition.with_token, []);
  const fixedIds = closed && ids ? ([...ids.v4ByAlpha.values()] as string[]) : undefined;

  return {
    name,
    keepsItem: kept && ((item) => thenMaybe(kept.evaluate(item, {}), Boolean)),
    fixedList: () =>
      fixedIds &&
      Promise.resolve(mapMaybe(fixedIds, (id) => stubFor(id, {}))).then((texts) =>
        texts.map((text) => createCatalogEntry(text ?? "{}")),
      ),
    hiddenPrefix: hidden,
    renames: ids !== undefined,
    calls: definition.v4.map((entry, index) => ({
      path: callPath(entry.call, location.at("v4", index, "call")),
      filter: entry.filter,
      optional: entry.optional ?? false,
      listed: entry.listed ?? true,
    })),
    fixedIds,
    opposites: definition.opposites ?? {},
    alphaId,
    v4Id,
    filterId: (asked, copy) =>
      v4Id(asked, copy) ?? (alphaId(asked) === asked && copy.find(name, asked) ? asked : undefined),
    isHidden,
    expandAll(v4Ids, reading) {
      const ids = v4Ids.filter(isStringText).map((id) => fromJsonText(id) as string);
      return `[${ids.flatMap((id) => textOf(id, reading) ?? []).join(",")}]`;
    },
    expand,
    cachedText: (bytes, start, end, { catalogs }) =>
      isHiddenAt(bytes, start) ? undefined : catalogs.cachedText(name, bytes, start, end),
    mayBeAsync: stub.engine === "interpreted",
    stub: stubFor,
  };
}
