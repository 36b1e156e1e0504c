import type { UpstreamFilter } from "../filters/filter-writer.ts";
import {
  detachString,
  fromJsonText,
  isStringText,
  type JsonText,
  parseJson,
  printJson,
  resolveReference,
  type SourceLocation,
  stringFromJson,
} from "../../base/index.ts";
import { mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import type { CatalogDefinition } from "../schema/resource-definition.ts";
import { compileExpressionAt } from "../expressions/compile-expression.ts";
import type { CatalogCopy, CatalogEntry, JsonObject, ReadContext } from "../translation-context.ts";
import type { Paging } from "../lists/paging.ts";
import type { CatalogTranslation } from "../fields/keys/catalog-translation.ts";
import type { ValueKind } from "../values/value-kind.ts";

/** Parses the text of an alpha object and copies it into one string, because it goes into many responses. */
export function createCatalogEntry(text: string, lost?: ReadonlySet<string>): CatalogEntry {
  const detached = detachString(text);
  const object = parseJson(detached) as JsonObject;
  return { object, text: detached, ...(lost && lost.size > 0 && { losses: [...lost] }) };
}

/** How the pages of a catalog are read. */
export type CatalogPaging = Pick<Paging, "walkAll" | "upstreamCursor">;

/** One v4 list from which a catalog is read. */
export interface CatalogCall {
  readonly path: string;
  /** Condition in the upstream's filter form; empty without one. */
  readonly filter: UpstreamFilter;
  /** How the list is paged; undefined: as the pack says. */
  readonly paging: CatalogPaging | undefined;
  /** Whether v4 may have no such list. It counts as empty then. */
  readonly optional: boolean;
  /** Whether its items are in alpha's list. If not, they only appear where an object refers to them. */
  readonly listed: boolean;
}

/** A catalog: objects such as regions or plans that v4 names by id and alpha embeds as a whole. */
export interface Catalog extends CatalogTranslation {
  /** The file and line of the catalog. */
  readonly place: string;
  /** The member with the id of a v4 object. */
  readonly idMember: string;
  readonly calls: readonly CatalogCall[];
  /** v4 ids of the whole list in the order of the pack; undefined if the pack does not fix the list. */
  readonly fixedIds: readonly string[] | undefined;
  /** Additional filter names, each with the boolean field that it negates. */
  readonly opposites: Readonly<Record<string, string>>;
  /** Whether alpha clients never see the object of this v4 id. */
  isHidden(v4Id: unknown): boolean;
  /** If the catalog is read with a client's token: which items may be cached. Undefined: no token may be used. */
  readonly keepsItem: ((item: unknown) => MaybePromise<boolean>) | undefined;
  /** The whole list, created without v4; undefined if the pack does not fix its ids. */
  fixedList(): Promise<CatalogEntry[]> | undefined;
}

/** Returns the path of a call. Reports other methods than GET: catalogs are read in the background. */
function callPath(call: string, location: SourceLocation): string {
  const path = /^GET (\/\S+)$/.exec(call)?.[1];
  if (path === undefined) location.report(`"${call}" is not GET /path`);
  return path ?? "/";
}

/** Compiles the v4 lists from which a catalog is read. */
const compileCalls = (
  { upstream }: CatalogDefinition,
  { pagingOf }: CatalogContext,
  location: SourceLocation,
): CatalogCall[] =>
  upstream.map((entry, index) => ({
    path: callPath(entry.request, location.at("upstream", index, "request")),
    filter: entry.filter ?? {},
    paging: pagingOf(entry.pagination, location.at("upstream", index, "pagination")),
    optional: entry.optional ?? false,
    listed: entry.listed ?? true,
  }));

/** Compiles the tests whether a v4 id, or the JSON text of one that starts in bytes, has the prefix of hidden ids. */
function compileHiddenPrefix(prefix: string | undefined) {
  const text = Buffer.from(prefix === undefined ? "" : printJson(prefix).slice(0, -1));
  return {
    isHidden: (v4Id: unknown): boolean =>
      prefix !== undefined && typeof v4Id === "string" && v4Id.startsWith(prefix),
    isHiddenAt(bytes: Uint8Array, start: number): boolean {
      for (let at = 0; at < text.length; at += 1) if (bytes[start + at] !== text[at]) return false;
      return text.length > 0;
    },
  };
}

/** The definitions that catalogs may refer to. */
export interface CatalogContext {
  /** Compiles how the upstream pages a list of the catalog; undefined: as the pack says. */
  readonly pagingOf: (
    own: CatalogDefinition["upstream"][number]["pagination"],
    location: SourceLocation,
  ) => CatalogPaging | undefined;
  readonly values: ReadonlyMap<string, ValueKind>;
  /** The member with the id of the upstream's objects. */
  readonly id: string;
  /** The function `$values("kind", value)` of expressions. */
  readonly lookup: (kind: string, value: unknown) => unknown;
}

/** The ids of a catalog on both sides. */
type CatalogIds = Pick<Catalog, "alphaId" | "v4Id" | "filterIds" | "renames" | "hasNoAlphaId" | "fixedIds">;

/** Compiles how ids of a catalog are translated. */
function compileIds(
  name: string,
  definition: CatalogDefinition,
  isHidden: Catalog["isHidden"],
  values: CatalogContext["values"],
  location: SourceLocation,
): CatalogIds {
  const { accepts = {}, closed = false, ignore_case: ignoreCase = false } = definition;
  const kind =
    definition.ids === undefined
      ? undefined
      : resolveReference(location.at("ids"), "value kind", definition.ids, values);
  const ids = kind?.ids;
  if (kind && !ids)
    location
      .at("ids")
      .report(
        `"${definition.ids}" needs a table of texts, or a "read" and a "write" that can be compiled: both directions`,
      );
  else if (closed && (ids ? !ids.v4Ids : definition.ids === undefined))
    location.at("closed").report('"closed" needs "ids" with a table: the ids that there are');
  const fold = (id: string) => (ignoreCase ? id.toLowerCase() : id);
  const aliases = new Map(Object.entries(accepts).map(([alias, v4Id]) => [fold(alias), v4Id]));
  const alphaId = (v4Id: string): string => ids?.toAlpha(v4Id) ?? v4Id;

  function v4Id(requested: string, copy: CatalogCopy): string | undefined {
    const translated = ids?.toV4(requested);
    const known = aliases.get(fold(requested)) ?? (ids?.v4Ids && translated);
    if (known !== undefined) return known;
    const wanted = translated ?? requested;
    const id = ignoreCase ? (copy.canonicalSpelling(name, wanted) ?? wanted) : wanted;
    if (closed || fold(alphaId(id)) !== fold(requested) || isHidden(id)) return undefined;
    return copy.find(name, id) || !copy.isLoaded(name) ? id : undefined;
  }

  function filterIds(requested: string, copy: CatalogCopy): readonly string[] | undefined {
    const isUnchanged = (): boolean =>
      alphaId(requested) === requested && copy.find(name, requested) !== undefined;
    const id = v4Id(requested, copy) ?? (isUnchanged() ? requested : undefined);
    if (id === undefined) return undefined;
    // Clients see the same id in rows with any of them.
    const others = (kind?.v4ValuesByAlpha.get(alphaId(id)) ?? []) as readonly string[];
    return [...new Set([id, ...others.filter((each) => !isHidden(each))])];
  }

  return {
    alphaId,
    v4Id,
    filterIds,
    renames: ids !== undefined,
    hasNoAlphaId: (v4Id) =>
      ids !== undefined && (typeof v4Id !== "string" || ids.toAlpha(v4Id) === undefined),
    fixedIds: closed ? ids?.v4Ids : undefined,
  };
}

/** Compiles the catalog of one resource. */
export function compileCatalog(
  name: string,
  definition: CatalogDefinition,
  context: CatalogContext,
  location: SourceLocation,
): Catalog {
  const { isHidden, isHiddenAt } = compileHiddenPrefix(definition.hidden_prefix);
  const ids = compileIds(name, definition, isHidden, context.values, location);
  const { fixedIds } = ids;
  const stub = compileExpressionAt(
    location.at("stub"),
    definition.stub,
    ["id", "name", "values"],
    context.values,
  );

  const stubFor = (v4Id: string, row: unknown): MaybePromise<JsonText> =>
    stub.print(row, { id: v4Id, name: ids.alphaId(v4Id), values: context.lookup });

  const textOf = (id: string, { catalogs }: ReadContext): JsonText =>
    isHidden(id) ? null : catalogs.find(name, id)?.text;

  function expand(v4Id: JsonText, row: () => string, reading: ReadContext): MaybePromise<JsonText> {
    if (v4Id === null || v4Id === undefined || !isStringText(v4Id)) return null;
    const id = stringFromJson(v4Id);
    const found = textOf(id, reading);
    return found === undefined ? stubFor(id, fromJsonText(row())) : found;
  }

  const mayCache =
    definition.with_token === undefined
      ? undefined
      : compileExpressionAt(location.at("with_token"), definition.with_token, []);

  return {
    ...ids,
    name,
    place: location.origin.place,
    idMember: definition.id ?? context.id,
    keepsItem: mayCache && ((item) => thenMaybe(mayCache.evaluate(item, {}), Boolean)),
    fixedList: () =>
      fixedIds &&
      Promise.resolve(mapMaybe(fixedIds, (id) => stubFor(id, {}))).then((texts) =>
        texts.map((text) => createCatalogEntry(text ?? "{}")),
      ),
    hiddenPrefix: definition.hidden_prefix,
    calls: compileCalls(definition, context, location),
    opposites: definition.opposites ?? {},
    isHidden,
    expandAll(v4Ids, reading) {
      const found = v4Ids.filter(isStringText).map(stringFromJson);
      return `[${found.flatMap((id) => textOf(id, reading) ?? []).join(",")}]`;
    },
    expand,
    cachedText: (bytes, start, end, { catalogs }) =>
      isHiddenAt(bytes, start) ? undefined : catalogs.cachedText(name, bytes, start, end),
    mayBeAsync: stub.engine === "interpreted",
    stubMembers: stub.inputNames === "all" ? undefined : [...stub.inputNames.keys()],
    stub: stubFor,
  };
}
