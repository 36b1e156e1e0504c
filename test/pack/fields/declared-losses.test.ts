/** When a record has a loss: what the compiler derives, and what `loss_when` says. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { sendToLibrary } from "../load/library-gateway.ts";
import { faultsOf, withPack } from "../load/pack-folder.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";

const member = `
object: member
list: members
fields:
  id:     id
  level:  { upstream: level, values: level, loss: levels }
  shelf:  { upstream: shelf_id, catalog: shelf, accepts: [object], loss: unknown shelves }
  shelves: { upstream: shelf_ids, catalog: shelf, accepts: [object], default: [], loss: some shelves }
  latest: { upstream: loans, read: '$value[open = true][0].title', loss: earlier loans }
  badge:  { const: none, loss: no badge }
  fee:    { upstream: fee, read: '$floor($value)', loss: pennies, loss_when: '$value % 1 > 0' }
  ends:   { upstream: ends, loss: moved, loss_when: '$request.ends != ends' }
  wrong:  { upstream: wrong, loss: fails, loss_when: '$value + 1 > 0' }
  asked:  { upstream: asked, loss: not asked for, loss_when: '$value != $query.asked' }
  own:    { upstream: own, loss: of another one, loss_when: '$value != $path.number' }
  card:   { upstream: card, object: card }
inputs:
  pin:    { upstream: pin, write: '$value[false]', loss: v4 takes none }
bodies:
  join:
    schema:
      type: object
      properties: { level: { type: string }, pin: { type: string }, ends: { type: string } }
routes:
  - { client: GET /members, scope: books:look, upstream: GET /people, response: list }
  - { client: "GET /members/:number", scope: books:look, upstream: "GET /people/{number}", response: object }
  - { client: POST /members, scope: books:write, upstream: POST /people, body: join, response: object }
`;

const card = `
object: card
fields:
  colour: { upstream: colour, values: level, loss: colours }
`;

const values = {
  file: "pack.yaml",
  from: "values:\n",
  to: "values:\n  level:\n    same: [basic]\n    read: { gold: plus, silver: plus }\n    otherwise: basic\n    write: { free: basic }\n",
};
const changes = { edits: [values], files: { "member.yaml": member, "card.yaml": card } };

async function lossesOf(v4: object, body?: object): Promise<string[]> {
  const { context } = await sendToLibrary(
    changes,
    body ? { method: "POST", path: "/old/members", body } : { method: "GET", path: "/old/members/5" },
    () => [200, v4],
  );
  return [...context.losses].filter((loss) => loss !== "badge: no badge");
}

describe("a loss is derived", () => {
  test.each([
    ["of a value that the client sees as another one", { level: "silver" }, ["level: levels"]],
    ["of a value that the table does not have", { level: "platinum" }, ["level: levels"]],
    ["not of the first value", { level: "gold" }, []],
    ["not of the same value", { level: "basic" }, []],
    ["of a value with escapes as of one without", { level: "silver\u2028" }, ["level: levels"]],
    ["of an expression without a result", { loans: [{ open: false }] }, ["latest: earlier loans"]],
    ["not of an expression with a result", { loans: [{ open: true, title: "Emma" }] }, []],
    [
      "of a list with fewer objects, here without a catalog",
      { shelf_ids: ["B/2", "Z/9"] },
      ["shelves: some shelves"],
    ],
    [
      "of an object inside, with the name of its field",
      { card: { colour: "silver" } },
      ["card.colour: colours"],
    ],
    ["not of null", { level: null, shelf_ids: null, loans: null, card: null }, []],
  ])("%s", async (_, v4, losses) => expect(await lossesOf(v4)).toEqual(losses));

  test("of a constant, for each object that is shown, and not for an empty list", async () => {
    const list = async (rows: readonly object[]) =>
      (
        await sendToLibrary(changes, { method: "GET", path: "/old/members" }, () => [
          200,
          { rows, page: 1, last_page: 1, total: rows.length },
        ])
      ).context.losses;
    expect([...(await list([{ id: 1 }, { id: 2 }]))]).toEqual(["badge: no badge"]);
    expect([...(await list([]))]).toEqual([]);
  });

  test("of a member that v4 does not get, and of a value that v4 gets as another one", async () => {
    expect(await lossesOf({}, { pin: "1234" })).toEqual(["pin: v4 takes none"]);
    expect(await lossesOf({}, { level: "free" })).toEqual(["level: levels"]);
    expect(await lossesOf({}, { level: "basic" })).toEqual([]);
  });
});

describe("loss_when", () => {
  test.each([
    ["is true for this object", { fee: 1.5 }, ["fee: pennies"]],
    ["is false for this object", { fee: 2 }, []],
    ["has no value to look at", {}, []],
    ["fails, which counts as true", { wrong: "x" }, ["wrong: fails"]],
    ["reads the body of a request without one", { ends: "May" }, []],
  ])("%s", async (_, v4, losses) => expect(await lossesOf(v4)).toEqual(losses));

  test("compares v4's response with the request", async () => {
    expect(await lossesOf({ ends: "June" }, { ends: "May" })).toEqual(["ends: moved"]);
    expect(await lossesOf({ ends: "May" }, { ends: "May" })).toEqual([]);
  });
});

test.each([
  ["in an object", { order: { state: "late" } }, true],
  ["in an object, with another value", { order: { state: "paid" } }, false],
  ["in the objects of a list", { order: [{ state: "late" }] }, true],
  ["of no object", { order: null }, false],
])("loss_when reads a member %s", async (_, v4, isLost) => {
  const late = "  late: { upstream: late, loss: too late, loss_when: 'order.state = \"late\"' }";
  const { context } = await sendToLibrary(
    { edits: [{ file: "book.yaml", from: "fields:\n", to: `fields:\n${late}\n` }] },
    { method: "GET", path: "/old/books/5" },
    () => [200, v4],
  );
  expect(context.losses.has("late: too late")).toBe(isLost);
});

test("loss_when compares v4's response with the query and the path", async () => {
  const read = async (path: string) => {
    const { context } = await sendToLibrary(changes, { method: "GET", path }, () => [
      200,
      { asked: "all", own: "5" },
    ]);
    return [...context.losses].filter((loss) => loss !== "badge: no badge");
  };
  expect(await read("/old/members/5?asked=all")).toEqual([]);
  expect(await read("/old/members/6?asked=none")).toEqual(["asked: not asked for", "own: of another one"]);
});

test("R-9 a request that fails has no loss", async () => {
  const { context, status } = await sendToLibrary(
    changes,
    { method: "POST", path: "/old/members", body: { pin: "1234" } },
    () => [400, {}],
  );
  expect([status, ...context.losses]).toEqual([400]);
});

test("a route lists all that it may lose, with objects inside and members of its body", () => {
  const pack = withPack(changes.edits, (folder) => {
    for (const [name, text] of Object.entries(changes.files)) writeFileSync(join(folder, name), text);
    return loadPack(folder);
  });
  expect(pack.route("POST /members")?.losses.map(({ text }) => text)).toEqual([
    "level: levels",
    "shelf: unknown shelves",
    "shelves: some shelves",
    "latest: earlier loans",
    "badge: no badge",
    "fee: pennies",
    "ends: moved",
    "wrong: fails",
    "asked: not asked for",
    "own: of another one",
    "card.colour: colours",
    "pin: v4 takes none",
  ]);
});

describe("the severity of a loss", () => {
  const packWith = (text: string) =>
    withPack(changes.edits, (folder) => {
      for (const [name, file] of Object.entries({ ...changes.files, "member.yaml": text }))
        writeFileSync(join(folder, name), file);
      return loadPack(folder);
    });
  const weighed = member
    .replace("loss: pennies", "loss: pennies, severity: rounding")
    .replace("loss: v4 takes none", "loss: v4 takes none, severity: meaning");

  test("is that of the pack, and else detail", () => {
    const losses = packWith(weighed).route("POST /members")?.losses ?? [];
    expect(losses.filter(({ severity }) => severity !== "detail")).toEqual([
      { text: "fee: pennies", severity: "rounding" },
      { text: "pin: v4 takes none", severity: "meaning" },
    ]);
    expect(losses).toContainEqual({ text: "card.colour: colours", severity: "detail" });
  });

  test("and the text of each loss of a route have a number, so that records are counted by numbers", () => {
    const { names = [], bitsOf } = packWith(weighed).lossNames.get("POST /members") ?? {};
    expect(names[0]).toBe("detail level: levels");
    expect(names.at(-1)).toBe("meaning pin: v4 takes none");
    const bits = bitsOf?.(["level: levels", "pin: v4 takes none", "scopes: what a client wrote"]);
    expect([...(bits ?? [])]).toEqual([0b1000_0000, 0b0001_0000]);
    expect(bitsOf?.(["scopes: what a client wrote"])).toBeUndefined();
  });

  test("is also counted for a member that a route without a response can't pass on", () => {
    const silent = weighed.replace("body: join, response: object", "body: join, response: none");
    const names = packWith(silent).lossNames.get("POST /members")?.names;
    expect(names).toEqual(["detail level: levels", "meaning pin: v4 takes none"]);
  });
});

test.each([
  [
    "a loss of a value that is passed on",
    "title:  { upstream: name, loss: x, filter: true, aliases: [heading] }",
    'can\'t tell when this loss occurs, because the value is passed on unchanged; add "loss_when", an expression over the upstream object',
  ],
  [
    "a condition without a loss",
    "title:  { upstream: name, loss_when: 'true', filter: true, aliases: [heading] }",
    '"loss_when" needs "loss"',
  ],
  [
    "a severity without a loss",
    "title:  { upstream: name, severity: detail, filter: true, aliases: [heading] }",
    '"severity" needs "loss"',
  ],
  [
    "a severity that there is not",
    "title:  { upstream: name, loss: x, severity: detial, filter: true, aliases: [heading] }",
    '"detial" is not allowed here; did you mean "detail"? there are: meaning, detail, rounding',
  ],
])("%s is a fault of the pack", (_, to, message) => {
  const from = "title:  { upstream: name, filter: true, aliases: [heading] }";
  expect(faultsOf({ file: "book.yaml", from, to })).toMatchObject([{ file: "book.yaml", message }]);
});
