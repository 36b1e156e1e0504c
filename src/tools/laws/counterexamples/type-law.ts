/** The law of types: what clients get has the types of the old description, whatever the new API may respond. */
import { isObject } from "../../../dialect/json/parse.ts";
import type { Route } from "../../../mapping/compile/route.ts";
import type { Resource } from "../../../mapping/compile/resource.ts";
import type { Pack } from "../../../mapping/pack.ts";
import type { CatalogLists } from "../../catalog-upstream.ts";
import type { ExampleResult } from "../../examples/compare-example.ts";
import { createRandom } from "../generate-values.ts";
import type { Schema } from "./alternatives.ts";
import { DescribedApi } from "./described-api.ts";
import { misfitsOf, type JsonPath } from "./fits-schema.ts";
import { toGoldenCounterexample } from "./golden-counterexample.ts";
import {
  brokenFields,
  prepareRoute,
  tryRoute,
  type Broken,
  type Prepared,
  type RouteLawOptions,
} from "./route-law.ts";
import { applyEdits, type Edits } from "./schema-values.ts";
import { Trials } from "./route-trial.ts";
import { shrink } from "./shrink.ts";
import type { Counterexample, TypeResult } from "./type-report.ts";

/** What is known of a field while routes are tried. */
interface Tally {
  cases: number;
  isFinite: boolean;
  counterexample: Counterexample | null;
}

/** Documents and values of a check. */
export interface TypeLawOptions {
  /** The document of the new API. */
  readonly generator: unknown;
  /** The document of the old API, or the pack's own description of it. */
  readonly expected: unknown;
  readonly results: readonly ExampleResult[];
  readonly catalogs: CatalogLists;
  readonly seed: number;
  /** Routes that are tried. Default: all */
  readonly isChosen?: (route: string) => boolean;
}

const isFiniteType = ({ type, enum: words }: Schema): boolean =>
  Array.isArray(words) || type === "boolean" || type === "null";

/** Whether a field depends on one upstream member with few values, all of which are tried. */
function isFiniteField(
  { fields }: Resource,
  name: string,
  { api, schema }: { readonly api: DescribedApi; readonly schema: unknown },
): boolean {
  const rule = fields.get(name);
  if (rule?.const !== undefined) return true;
  if (!rule || rule.upstream === undefined || rule.read !== undefined || rule.catalog !== undefined)
    return false;
  const found = api.values.at(schema, rule.upstream.split("."));
  return found.length > 0 && found.every(isFiniteType);
}

/** The changes that are needed: without one of them, something else or nothing is wrong. */
async function neededEdits(edits: Edits, isSame: (edits: Edits) => Promise<boolean>): Promise<Edits> {
  let needed = edits;
  for (const edit of edits) {
    const without = needed.filter((each) => each !== edit);
    if (await isSame(without)) needed = without;
  }
  return needed;
}

/** Changes that are tried to find what a wrong value depends on. */
const MAX_CAUSES = 200;

/** The places on which a wrong value depends: with another value there, the field is right. */
async function findCauses(
  body: unknown,
  all: readonly Edits[],
  isMended: (body: unknown) => Promise<boolean>,
): Promise<JsonPath[]> {
  const causes: JsonPath[] = [];
  for (const edits of all.slice(0, MAX_CAUSES)) {
    const [place] = edits;
    if (place && edits.length === 1 && (await isMended(applyEdits(body, edits)))) causes.push(place.path);
  }
  return causes;
}

/** Makes a counterexample small, and a golden case of it. */
async function toCounterexample(
  pack: Pack,
  prepared: Prepared,
  { field, edits, varied: { call, send, base, schema, changes, isPossible } }: Broken,
  options: RouteLawOptions & { readonly rows: CatalogLists },
): Promise<Counterexample> {
  const breaks = async (body: unknown) => brokenFields(prepared, await send(body), options);
  const before = new Set((await breaks(applyEdits(base, edits))).keys());
  const undescribed = (body: unknown): number => misfitsOf(schema, body, options.generator.reading).length;
  const isSame = async (body: unknown): Promise<boolean> => {
    const found = await breaks(body);
    return found.has(field) && [...found.keys()].every((name) => before.has(name));
  };
  const needed = await neededEdits(
    edits,
    async (fewer) => isPossible(applyEdits(base, fewer)) && (await isSame(applyEdits(base, fewer))),
  );
  const first = applyEdits(base, needed);
  const kept = [
    changes.prefix,
    ...needed.map(({ path }) => path),
    ...(await findCauses(first, changes.edits, async (body) => !(await breaks(body)).has(field))),
  ];
  // What is around the object of a list is a page: it stays, as the values that break the type.
  const isKept = (path: JsonPath): boolean =>
    path.length < changes.prefix.length ||
    kept.some((other) => path.every((key, index) => key === other[index]));
  const most = undescribed(first);
  const value = await shrink(
    first,
    isKept,
    async (body) => isPossible(body) && undescribed(body) <= most && (await isSame(body)),
  );
  const answer = await send(value);
  const all = brokenFields(prepared, answer, options);
  const [misfit] = all.get(field) ?? [];
  const { name } = prepared.route;
  return {
    route: name,
    call,
    value,
    actual: misfit?.actual,
    expected: misfit?.expected ?? "a response",
    golden: toGoldenCounterexample(
      {
        title: field === "" ? `${name}: there is a response` : `${name}: ${field} has its type`,
        request: prepared.request,
        answer,
        misfits: [...all.values()].flat(),
        plain: prepared.plain,
        catalogs: { ...options.rows, ...answer.rows },
      },
      pack,
      options.expected.values,
    ),
  };
}

/** Results by subject and field. */
class Tallies {
  readonly #all = new Map<string, Map<string, Tally>>();

  of(subject: string, field: string): Tally {
    const fields = this.#all.get(subject) ?? new Map<string, Tally>();
    this.#all.set(subject, fields);
    const tally = fields.get(field) ?? { cases: 0, isFinite: false, counterexample: null };
    fields.set(field, tally);
    return tally;
  }

  results(): TypeResult[] {
    return [...this.#all].flatMap(([subject, fields]) =>
      [...fields].map(([field, { cases, isFinite, counterexample }]): TypeResult => {
        const none = "the new document has none of its responses";
        const verdict = isFinite ? "holds" : "no-counterexample";
        return {
          subject,
          field,
          cases,
          counterexample,
          reason: cases === 0 ? none : null,
          verdict: counterexample ? "counterexample" : cases === 0 ? "not-tested" : verdict,
        };
      }),
    );
  }
}

async function checkRoute(
  trials: Trials,
  prepared: Prepared,
  options: RouteLawOptions & { readonly rows: CatalogLists },
  tallies: Tallies,
): Promise<void> {
  const { route, resource, plain } = prepared;
  const subject = resource?.name ?? route.name;
  const names = [...(resource?.fields.keys() ?? [])];
  const found = new Map<string, Broken>();
  let cases = 0;
  for await (const broken of tryRoute(trials, prepared, options)) {
    cases += 1;
    for (const each of broken) if (!found.has(each.field)) found.set(each.field, each);
  }
  const schema = plain.calls.find(({ operation }) => operation?.schema !== undefined)?.operation?.schema;
  for (const name of names) {
    const tally = tallies.of(subject, name);
    tally.cases += cases;
    tally.isFinite ||=
      resource !== undefined &&
      !options.incomplete.has(subject) &&
      isFiniteField(resource, name, { api: options.generator, schema });
  }
  if (names.length === 0) tallies.of(route.name, "").cases += cases;
  for (const [field, broken] of found) {
    const tally = field === "" ? tallies.of(route.name, "") : tallies.of(subject, field);
    if (field === "" || names.length === 0) tally.cases ||= cases;
    tally.counterexample ??= await toCounterexample(trials.pack, prepared, broken, options);
  }
}

/** Rows of catalogs that the pack's golden cases do not have, as the document describes them. */
function describedRows(pack: Pack, api: DescribedApi, lists: CatalogLists): CatalogLists {
  const paths = [...pack.resources.values()].flatMap(
    ({ catalog }) => catalog?.calls.map(({ path }) => path) ?? [],
  );
  const missing = paths.filter((path) => !Object.hasOwn(lists, `GET ${path}`));
  return Object.fromEntries(
    missing.flatMap((path) => {
      const operation = api.ofTemplate(`GET ${path}`);
      const body = operation?.schema === undefined ? undefined : api.values.plain(operation.schema);
      const rows = isObject(body) ? Object.values(body).find(Array.isArray) : body;
      return Array.isArray(rows) ? [[`GET ${path}`, rows]] : [];
    }),
  );
}

/**
 * Tries all routes of a pack with the values that the new API may respond, and holds what clients get against the old
 * description.
 *
 * @returns the verdict on each field of each object, and on routes that can't be tried
 * @throws {UnreadableDocumentError} If a document is no OpenAPI 3 document.
 */
export async function checkTypes(
  pack: Pack,
  { generator, expected, results, catalogs, seed, isChosen = () => true }: TypeLawOptions,
): Promise<TypeResult[]> {
  const { client, upstream } = pack.dialect;
  const api = new DescribedApi(generator, upstream.base_path);
  const rows = describedRows(pack, api, catalogs);
  const options = {
    generator: api,
    expected: new DescribedApi(expected, client.base_path),
    results,
    random: createRandom(seed),
    tried: new Map<string, Set<unknown>>(),
    incomplete: new Set<string>(),
    rows,
  };
  const tallies = new Tallies();
  const untested: TypeResult[] = [];
  const trials = await Trials.start(pack, api, { ...catalogs, ...rows });
  try {
    // An object alone is smaller than a list with it.
    const isList = ({ response }: Route): boolean => response === "list";
    for (const route of pack.routes.toSorted((one, other) => Number(isList(one)) - Number(isList(other)))) {
      const isJson = !("error" in route.source) && !route.file && route.response !== "none";
      if (!isJson || !isChosen(route.name)) continue;
      const prepared = await prepareRoute(trials, route, options);
      if ("problem" in prepared)
        untested.push({
          subject: route.name,
          field: "",
          verdict: "not-tested",
          cases: 0,
          reason: prepared.problem,
          counterexample: null,
        });
      else await checkRoute(trials, prepared, options, tallies);
    }
  } finally {
    trials.stop();
  }
  return [...tallies.results(), ...untested];
}
