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
import type { ValueKind } from "../values/value-kind.ts";

/** Parses the text of an alpha object and copies it into one string, because it goes into many responses. */
export function createCatalogEntry(text: string, lost?: ReadonlySet<string>): CatalogEntry {
  const detached = detachString(text);
  const object = parseJson(detached) as JsonObject;
  return { object, text: detached, ...(lost && lost.size > 0 && { losses: [...lost] }) };
}

/** How the pages of a catalog are read. */
export type CatalogPaging = Pick<Paging, "walkAll" | "upstreamCursor">;

/** A catalog: objects such as regions or plans that v4 names by id and alpha embeds as a whole. */
export type Catalog = Readonly<ReturnType<typeof compileCatalog>>;

/** A v4 list from which a catalog is read. */
export type CatalogCall = Catalog["calls"][number];

/** Returns the path of a call. Reports methods other than GET: catalogs are read in the background. */
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
) =>
  upstream.map((entry, index) => ({
    path: callPath(entry.request, location.at("upstream", index, "request")),
    /** Condition in the upstream's filter form; empty if missing. */
    filter: entry.filter ?? {},
    /** How the list is paged; undefined: as the pack defines it. */
    paging: pagingOf(entry.pagination, location.at("upstream", index, "pagination")),
    /** Whether v4 may have no such list. It is then treated as empty. */
    optional: entry.optional ?? false,
    /** Whether alpha's list contains the items. If not, they are only used for objects that refer to them. */
    listed: entry.listed ?? true,
  }));

/** Compiles two tests whether a v4 id has the prefix of hidden ids: for the id, and for its JSON text in bytes. */
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
  /** Compiles how the upstream pages a list of the catalog; undefined: as the pack defines it. */
  readonly pagingOf: (
    own: CatalogDefinition["upstream"][number]["pagination"],
    location: SourceLocation,
  ) => CatalogPaging | undefined;
  readonly values: ReadonlyMap<string, ValueKind>;
  /** The member that contains the id of the upstream's objects. */
  readonly id: string;
  /** The function `$values("kind", value)` of expressions. */
  readonly lookup: (kind: string, value: unknown) => unknown;
}

/** Compiles how ids of a catalog are translated. */
function compileIds(
  name: string,
  definition: CatalogDefinition,
  isHidden: (v4Id: unknown) => boolean,
  values: CatalogContext["values"],
  location: SourceLocation,
) {
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
    // Clients receive the same id for rows with any of these ids.
    const others = (kind?.v4ValuesByAlpha.get(alphaId(id)) ?? []) as readonly string[];
    return [...new Set([id, ...others.filter((each) => !isHidden(each))])];
  }

  return {
    /** Translates a v4 id to alpha. */
    alphaId,
    /** Translates an id in a request to v4; undefined if it does not exist. */
    v4Id,
    /** All v4 ids for an id in a filter; undefined if it does not exist. Ids that only occur in responses are valid as well. */
    filterIds,
    /** Whether alpha and v4 ids differ, so that their sort order differs. */
    renames: ids !== undefined,
    /** Whether the pack does not define an alpha id for a v4 id. */
    hasNoAlphaId: (v4Id: unknown) =>
      ids !== undefined && (typeof v4Id !== "string" || ids.toAlpha(v4Id) === undefined),
    /** The v4 ids of the whole list in the order of the pack; undefined if the pack does not fix the list. */
    fixedIds: closed ? ids?.v4Ids : undefined,
  };
}

/** Compiles the catalog of one resource. */
export function compileCatalog(
  name: string,
  definition: CatalogDefinition,
  context: CatalogContext,
  location: SourceLocation,
) {
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

  /** Returns the text of the alpha object for a v4 id. `row` returns the text of the v4 object that refers to it. */
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
    /** The file and line of the catalog. */
    place: location.origin.place,
    /** The member that contains the id of a v4 object. */
    idMember: definition.id ?? context.id,
    /**
     * If the catalog is read with a client's token: the test whether an item may be cached. Undefined: no token may be
     * used.
     */
    keepsItem: mayCache && ((item: unknown) => thenMaybe(mayCache.evaluate(item, {}), Boolean)),
    /** Creates the whole list without v4; undefined if the pack does not fix its ids. */
    fixedList: (): Promise<CatalogEntry[]> | undefined =>
      fixedIds &&
      Promise.resolve(mapMaybe(fixedIds, (id) => stubFor(id, {}))).then((texts) =>
        texts.map((text) => createCatalogEntry(text ?? "{}")),
      ),
    /** v4 ids with this prefix become null in responses. */
    hiddenPrefix: definition.hidden_prefix,
    calls: compileCalls(definition, context, location),
    /** Additional filter names, each with the boolean field that it negates. */
    opposites: (definition.opposites ?? {}) as Readonly<Record<string, string>>,
    /** Whether alpha clients never receive the object of this v4 id. */
    isHidden,
    /** Returns the text of a list of alpha objects. Hidden and unknown objects are omitted. */
    expandAll(v4Ids: readonly string[], reading: ReadContext): string {
      const found = v4Ids.filter(isStringText).map(stringFromJson);
      return `[${found.flatMap((id) => textOf(id, reading) ?? []).join(",")}]`;
    },
    expand,
    /** Returns the cached UTF-8 text of an alpha object, if the cache contains it. `bytes` contains the v4 id. */
    cachedText: (bytes: Uint8Array, start: number, end: number, { catalogs }: ReadContext) =>
      isHiddenAt(bytes, start) ? undefined : catalogs.cachedText(name, bytes, start, end),
    /** Whether `expand` may return a promise. */
    mayBeAsync: stub.engine === "interpreted",
    /** Members of the v4 object that `stub` reads; undefined if it may read all of them. */
    stubMembers: stub.inputNames === "all" ? undefined : [...stub.inputNames.keys()],
    /** Returns the text of a substitute object for an id that the cache does not contain. */
    stub: stubFor,
  };
}
