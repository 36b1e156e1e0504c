import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { paddedText } from "../../../src/base/json/padded-text.ts";
import { parseJson, printJson } from "../../../src/base/json/parse.ts";
import { cursorAt, expectEnd } from "../../../src/base/json/scan.ts";
import { runInterpreted } from "../../../src/jsonata/compiler/compile.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { sendToLibrary } from "../load/library-gateway.ts";
import type { CatalogCopy, ReadContext } from "../../../src/pack/translation-context.ts";
import {
  readPack,
  rulesOf,
  translate,
  type Json,
  type KnownCatalogs,
  type ReferencePack,
} from "./reference-translation.ts";
import { packIn } from "../../support/packs.ts";

/** Each catalog has one id; all other ids are unknown. */
const KNOWN = "known/id";

const knownCatalogs = ({ files }: ReferencePack): KnownCatalogs =>
  Object.fromEntries(
    [...files].map(([name]) => [name, { [KNOWN]: { id: name, label: 'a "known" one', more: [1, null] } }]),
  );

function copyOf(catalogs: KnownCatalogs): CatalogCopy {
  const find = (name: string, id: string) => {
    const knownObjects = catalogs[name] ?? {};
    const object = Object.hasOwn(knownObjects, id) ? knownObjects[id] : undefined;
    return object && { object, text: printJson(object) };
  };
  return {
    isLoaded: () => true,
    find,
    cachedText(name, bytes, start, end) {
      const id = parseJson(Buffer.from(bytes.subarray(start, end)).toString());
      const text = typeof id === "string" ? find(name, id)?.text : undefined;
      return text === undefined ? undefined : paddedText(text);
    },
    canonicalSpelling: (_name, id) => id,
  };
}

/** Words that mean something to some table, catalog or expression of the pack. */
function wordsOf({ kinds, files }: ReferencePack): string[] {
  const tables = Object.values(kinds).flatMap(({ same = [], read }) => [
    ...same,
    ...(typeof read === "object" ? Object.keys(read) : []),
  ]);
  const hidden = [...files.values()].flatMap(({ catalog }) => catalog?.hidden_prefix ?? []);
  return [...tables, ...hidden.map((prefix) => `${prefix}7`), KNOWN];
}

/** Every string in its own way of writing, and in one with escapes. */
const written = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    JSON.stringify(text),
    `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`,
  );

const numbers = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    "0",
    "-0",
    "1.50",
    "1e3",
    "1E400",
    "9007199254740993",
    "0.1234567890123456789",
    "1073741824",
  ),
);

const strings = (words: readonly string[]): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 3, arbitrary: fc.constantFrom(...words) },
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "__proto__", '"},{"', "\\", "\u2028", "\ud83d", "\ud83d\ude00", "\u0000", "null"),
      fc.constantFrom(
        "2026-11-20T02:13:00",
        "2026-11-20T02:13:00+02:00",
        "2026-11-20T02:13:00.5Z",
        "2026-13-40",
      ),
      fc.constantFrom("2001:db8::1/128", "198.51.100.7", "/v4/vm/instances/7/disks/8", "/domains/3"),
    )
    .chain(written);

/** The JSON text of some value. */
function anything(words: readonly string[]): fc.Arbitrary<string> {
  const scalar = fc.oneof(strings(words), numbers, fc.constantFrom("null", "true", "false"));
  const list = fc.array(scalar, { maxLength: 3 }).map((items) => `[${items.join(" ,")}]`);
  const member = fc.tuple(fc.constantFrom('"id"', '"a"', '"__proto__"', '"1"'), scalar);
  const object = fc
    .uniqueArray(member, { maxLength: 3, selector: ([name]) => name })
    .map((members) => `{${members.map((pair) => pair.join(": ")).join()}}`);
  return fc.oneof(
    { weight: 6, arbitrary: scalar },
    list,
    object,
    fc.array(object, { maxLength: 2 }).map((items) => `[${items.join()}]`),
  );
}

interface Tree extends Map<string, Tree> {}

function treeOf(paths: Iterable<string>): Tree {
  const tree: Tree = new Map();
  for (const path of paths) {
    let place = tree;
    for (const name of path.split("."))
      place = place.set(name, place.get(name) ?? new Map()).get(name) as Tree;
  }
  return tree;
}

/** The text of an object with some members of a tree, in any order, some of them twice, and with other members. */
function document(tree: Tree, value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const members = [...tree].map(([name, inner]) =>
    fc
      .oneof(
        {
          weight: inner.size > 0 ? 6 : 0,
          arbitrary: fc.constant(inner).chain((below) => document(below, value)),
        },
        { weight: 2, arbitrary: value },
      )
      .map((text) => `${JSON.stringify(name)}:${text}`),
  );
  const other = value.map((text) => `"tags" : ${text}`);
  return fc
    .tuple(
      fc.tuple(...members, ...members.slice(0, 1), other),
      fc.infiniteStream(fc.nat()),
      fc.constantFrom(",", " ,\n "),
    )
    .map(([texts, order, comma]) => {
      const stored = texts.map((text) => [order.next().value as number, text] as const);
      const some = stored.filter(([place]) => place % 5 > 0).sort(([a], [b]) => a - b);
      return `{${some.map(([, text]) => text).join(comma)}}`;
    });
}

/** What a resource reads: the places that its rules name, and those that its expressions do. */
function placesOf(pack: ReferencePack, name: string): { readonly v4: Tree; readonly with: Tree } {
  const rules = [...rulesOf(pack, name).values()];
  const sources = rules.flatMap(({ read = "" }) => read);
  const relatedPaths = sources.flatMap((source) =>
    [...source.matchAll(/\$calls\.([\w.]+)/g)].map(([, path = ""]) => path),
  );
  const named = sources.flatMap((source) =>
    [...source.matchAll(/(?<![\w$."])[a-z_]{3,}(?!\w*")/g)].map(([path]) => path),
  );
  return {
    v4: treeOf([...rules.flatMap(({ upstream }) => upstream ?? []), ...named]),
    with: treeOf(relatedPaths),
  };
}

/** The result, or the kind of error. */
async function outcome(run: () => unknown): Promise<string> {
  try {
    return printJson(await run());
  } catch (error) {
    return (error as Error).name;
  }
}

describe.each(["mappings", "examples/library/pack"])("reading an object of %s as text (L-5)", (folder) => {
  const reference = readPack(folder);
  const catalogs = knownCatalogs(reference);
  const engines = { compiled: loadPack(folder), interpreted: runInterpreted(() => loadPack(folder)) };
  const value = anything(wordsOf(reference));

  async function translated(engine: keyof typeof engines, name: string, text: string, extra: Json) {
    const reading: ReadContext = { catalogs: copyOf(catalogs), calls: {}, ...extra };
    const from = cursorAt(text);
    const alpha = await engines[engine].resources.get(name)?.read(from, reading);
    expectEnd(from);
    return parseJson(alpha ?? "");
  }

  test.each([...reference.files.keys()])("%s matches its rules for any v4 object", async (name) => {
    const places = placesOf(reference, name);
    const documents = fc.tuple(document(places.v4, value), document(places.with, value));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 9, arbitrary: documents }, fc.tuple(value, fc.constant("{}"))),
        async ([text, more]) => {
          const extra = parseJson(more) as Json;
          const around = { pack: reference, catalogs, with: extra, scopes: engines.compiled.scopes };
          const wanted = await outcome(() => translate(name, parseJson(text), around));
          // Twice, since the second run uses the cache of the first.
          expect(await outcome(() => translated("compiled", name, text, extra))).toBe(wanted);
          expect(await outcome(() => translated("compiled", name, text, extra))).toBe(wanted);
          expect(await outcome(() => translated("interpreted", name, text, extra))).toBe(wanted);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("a value that the catalog does not have", () => {
  const pack = packIn("mappings");

  /** The alpha objects of the type of an instance. The copy of the catalog finds ids by their value only. */
  async function typesOf(row: Json, knownObjects: KnownCatalogs = {}): Promise<unknown> {
    const catalogs = { ...copyOf(knownObjects), cachedText: () => undefined };
    const from = cursorAt(JSON.stringify(row));
    const alpha = await pack.resources.get("instance")?.read(from, { catalogs, calls: {} });
    return (parseJson(alpha ?? "") as Json)["type"];
  }

  const row = (memory: number): Json => ({ id: 7, type: "retired-1", specs: { memory, disk: 5 } });

  test("is shown with the members of its own row", async () => {
    for (const memory of [1024, 1024, 2048, 1024])
      expect(await typesOf(row(memory))).toEqual([
        expect.objectContaining({ id: "retired-1", ram: memory, disk: 5 }),
      ]);
    expect(await typesOf({ id: 7, type: "retired-1" })).toEqual([
      expect.not.objectContaining({ ram: expect.anything() }),
    ]);
  });

  test("is shown as in the catalog as soon as the catalog has it", async () => {
    const knownObjects = { type: { "retired-1": { id: "found" } } };
    for (const [catalogs, id] of [
      [{}, "retired-1"],
      [knownObjects, "found"],
      [{}, "retired-1"],
    ] as const)
      expect(await typesOf(row(1024), catalogs)).toEqual([expect.objectContaining({ id })]);
  });

  test("does not fill the memory, however many there are", async () => {
    for (let index = 0; index < 2500; index += 1)
      expect(await typesOf({ type: `retired-${index}` })).toEqual([
        expect.objectContaining({ id: `retired-${index}` }),
      ]);
  });
});

describe("a member that no field reads", () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  const read = async (levels: number): Promise<number[]> => {
    const book = { name: "Emma", unread: nested(levels) };
    const responses = [
      ["/old/books/5", book],
      ["/old/books", { rows: [book], page: 1, last_page: 1, total: 1 }],
    ] as const;
    return Promise.all(
      responses.map(
        async ([path, body]) => (await sendToLibrary({}, { method: "GET", path }, () => [200, body])).status,
      ),
    );
  };

  test("is read up to the level that any response may have, in an object and in a list", async () => {
    expect(await read(99)).toEqual([200, 200]);
    expect(await read(100)).toEqual([500, 500]);
  });
});
