/**
 * A list or an object of v4. The translation of its bytes in one pass equals the one over objects: parse the response,
 * print each object as plain JSON, and translate that.
 */
import { connectCatalogs } from "../../src/gateway/upstream/catalog-cache.ts";
import { onePage, writeList } from "../../src/pack/lists/envelope.ts";
import { isObject, parseJson, printJson } from "../../src/base/json/parse.ts";
import { cursorAt } from "../../src/base/json/scan.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import type { Route } from "../../src/pack/routes/route.ts";
import { translatePage } from "../../src/gateway/responses/translate-page.ts";
import { translateList, translateObject } from "../../src/gateway/calls/translate-response.ts";
import {
  InvalidUpstreamResponseError,
  type UpstreamResponse,
} from "../../src/gateway/calls/upstream-response.ts";
import { readExamples } from "../../src/authoring/examples/example.ts";
import { writeOdd } from "../odd-json.ts";
import { dictionaryOf, packSeeds, parseInput } from "../pack-seeds.ts";
import { pretendedV4 } from "../pretended-v4.ts";
import { random } from "../random.ts";
import { hold, type Target } from "../target.ts";

const FOLDER = "mappings";
const pack = loadPack(FOLDER);
/** For the translation object by object. Its caches only get plain JSON. */
const plainPack = loadPack(FOLDER);

const { examples, catalogs: rows } = readExamples(FOLDER, []);
const v4 = pretendedV4(pack, ({ path }) => {
  const name = path.slice(pack.dialect.upstream.base_path.length).split("?", 1)[0] ?? "";
  const bytes = Buffer.from(printJson(onePage(pack.lists.upstream, rows[`GET ${name}`] ?? [])));
  return { status: 200, headers: {}, bytes, ms: 0 };
});
const catalogs = connectCatalogs(pack, v4, 3600, () => undefined);
await catalogs.refresh();
catalogs.stop();
hold("there are golden cases and a catalog", examples.length > 0 && catalogs.isLoaded("datacenter"));

const isTranslated = ({ kind }: Route): boolean => kind === "list" || kind === "object";

/** Inputs: the name of a route, and a response on the next lines. */
const seeds = packSeeds(FOLDER, pack).flatMap((text) => {
  const { request, responses } = parseInput(text);
  const [method = "", path = ""] = request.start.split(" ");
  const segments = path.split("?", 1)[0]?.split("/").filter(Boolean).slice(pack.prefix.length) ?? [];
  const bodies = responses.filter(({ start, body }) => start.startsWith("2") && body !== "");
  const routes = pack.match(method, segments)?.routes.filter(isTranslated) ?? [];
  return routes.flatMap(({ name }) => bodies.map(({ body }) => `${name}\n${body}`));
});

/** An outcome: text and losses, or the name of an error. */
type Outcome = { readonly text: string; readonly losses: readonly string[] } | { readonly error: string };

async function outcome(translate: (lost: Set<string>) => Promise<string | Buffer>): Promise<Outcome> {
  const lost = new Set<string>();
  try {
    const text = (await translate(lost)).toString();
    return { text, losses: [...lost].sort() };
  } catch (error) {
    const isInvalid = error instanceof SyntaxError || error instanceof RangeError;
    return { error: isInvalid ? InvalidUpstreamResponseError.name : (error as Error).name };
  }
}

const reading = (lost: Set<string>) => ({ catalogs, calls: {}, lost });

const invalid = (): never => {
  throw new InvalidUpstreamResponseError("not what the route reads");
};

/** Reads a count of a list as the upstream must send it. */
const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : invalid();

const readPlain = async ({ read }: Route, object: unknown, lost: Set<string>): Promise<string> =>
  isObject(object) ? read(cursorAt(printJson(object)), reading(lost)) : invalid();

async function readPlainRows(route: Route, list: unknown, lost: Set<string>): Promise<string[]> {
  if (!isObject(list) || !Array.isArray(list["data"])) return invalid();
  const texts: string[] = [];
  for (const row of list["data"]) texts.push(await readPlain(route, row, lost));
  return texts;
}

/** Translates a response object by object. */
async function translatePlain(route: Route, value: unknown, lost: Set<string>): Promise<string> {
  if (route.response === "none") return "{}";
  if (route.kind !== "list") return readPlain(route, value, lost);
  const texts = await readPlainRows(route, value, lost);
  const list = value as Readonly<Record<string, unknown>>;
  const values = {
    page: countOf(list["page"]),
    pages: countOf(list["pages"]),
    total: countOf(list["results"]),
  };
  return writeList(texts, values, route.listWriter);
}

/** The response with these bytes, somewhere in a larger buffer. */
function responseOf(text: string): UpstreamResponse {
  const length = Buffer.byteLength(text);
  const offset = length % 9;
  const around = Buffer.alloc(length + offset + (length % 5), '"}]1');
  around.write(text, offset);
  const bytes = around.subarray(offset, offset + length);
  return { status: 200, success: true, headers: {}, bytes, json: undefined };
}

/** Equal JSON: members in the same order, numbers and strings of equal values. */
const isSameJson = (one: string, other: string): boolean =>
  one === other || printJson(parseJson(one)) === printJson(parseJson(other));

function holdSame(path: string, actual: Outcome, wanted: Outcome): void {
  if ("error" in actual || "error" in wanted) {
    const [got, expected] = [actual, wanted].map((each) => ("error" in each ? each.error : "a text"));
    return hold(`${path} ends as the objects do: ${got}, expected ${expected}`, got === expected);
  }
  hold(
    `${path} gives what the objects give:\n${actual.text}\n${wanted.text}`,
    isSameJson(actual.text, wanted.text),
  );
  hold(`${path} loses what the objects lose`, printJson(actual.losses) === printJson(wanted.losses));
}

/** Undefined for a text that is not JSON. @throws {RangeError} if it is nested deeper than `maxDepth` */
function parseBody(text: string, maxDepth?: number): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text, maxDepth === undefined ? {} : { maxDepth }) };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return undefined;
  }
}

/** Nested nearly to the limit, which an object on its own counts from its own start. */
function isDeep(text: string): boolean {
  try {
    parseBody(text, 90);
    return false;
  } catch {
    return true;
  }
}

/** Texts that only one path rejects: nested to the limit, with numbers beyond the limit, with two members of rows. */
function mayDiffer(text: string): boolean {
  if (isDeep(text) || /[\d.eE+-]{1000}/.test(text)) return true;
  const unescaped = text.replaceAll(/\\u00([2-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return unescaped.split('"data"').length > 2;
}

/** Holds that all translations of a response are equal, or fail with the same error. */
async function compare(route: Route, text: string): Promise<void> {
  const body = parseBody(text);
  const translate = route.kind === "list" ? translateList : translateObject;
  const translated = (each: Route): Promise<Outcome> =>
    outcome((lost) => translate(responseOf(text), each, reading(lost)));
  const paths = { "one pass": route, ...(route.append && { "row by row": { ...route, append: undefined } }) };
  const plainRoute = plainPack.route(route.name) ?? route;
  const wanted = body && (await outcome((lost) => translatePlain(plainRoute, body.value, lost)));
  for (const [path, each] of Object.entries(paths)) {
    const actual = await translated(each);
    if (wanted) holdSame(path, actual, wanted);
    else hold(`${path} rejects what is not JSON`, "error" in actual);
  }
  if (!body || !wanted || "error" in wanted || route.kind !== "list") return;
  const range = { from: text.length % 3, to: 1 + (text.length % 7), separator: "," };
  const page = await outcome(async (lost) => {
    const { rows: part } = await translatePage(responseOf(text), route, reading(lost), range);
    return `[${part.toString()}]`;
  });
  const wantedPage = await outcome(async (lost) => {
    const data = (body.value as { readonly data: readonly unknown[] }).data.slice(range.from, range.to);
    return `[${(await readPlainRows(plainRoute, { data }, lost)).join(",")}]`;
  });
  holdSame("a page", page, wantedPage);
}

/** A number that is the same for the same text. */
function seedOf(text: string): number {
  let seed = text.length;
  for (let at = 0; at < text.length; at += 1) seed = (Math.imul(seed, 31) + text.charCodeAt(at)) | 0;
  return seed;
}

export const target: Target = {
  name: "responses",
  subject: "A response of v4, translated in one pass and object by object",
  covers: ["/src/pack/", "/src/gateway/responses/"],
  longest: 10_000,
  seeds: [...new Set(seeds)],
  dictionary: dictionaryOf(pack),
  async run(input) {
    const end = input.indexOf("\n");
    const route = pack.route(input.slice(0, end));
    if (end < 0 || !route || !isTranslated(route)) return;
    // A lone surrogate can't be sent, other than as an escape.
    const text = input.slice(end + 1).toWellFormed();
    if (text === "" || mayDiffer(text)) return;
    await compare(route, text);
    const body = parseBody(text);
    if (!body) return;
    const chance = random(seedOf(text));
    const odd = writeOdd(body.value, chance).toWellFormed();
    if (mayDiffer(odd)) return;
    await compare(route, odd);
    const truncated = odd.slice(0, 1 + chance.below(odd.length)).toWellFormed();
    await compare(route, truncated);
  },
};
