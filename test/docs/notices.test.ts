/** docs/reference/notices.md, held against the form of the file and what the gateway sends. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { EVENTS, type Notice } from "../../src/migration/notices/notice.ts";
import { takeLook, type Look } from "../../src/migration/notices/look.ts";
import { NOTHING } from "../../src/migration/notices/stored-notices.ts";
import { observe, plan, stage, START } from "../support/notices.ts";

const page = readFileSync("docs/reference/notices.md", "utf8");
const examples = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]) => JSON.parse(text) as Notice,
);

const timestamp = new Date(START).toISOString();

/** A notice of each kind, as the gateway makes it. */
function makeAll(): Notice[] {
  const losses = [{ route: "GET /books", loss: "the author", firstDay: "2026-06-01" }];
  const storm = { action: "pause", stage: "a", by: "gateway", at: timestamp, reason: "because" } as const;
  // More than the five notices of one event that clients get within an hour.
  const many = Array.from({ length: 6 }, (_, n) => observe(`new${n}`, "not begun"));
  const looks: (Partial<Look> & { readonly time: number })[] = [
    {
      time: START,
      clients: [observe("1", "moving")],
      plan: plan([stage("a", "active"), stage("b", "planned")]),
    },
    {
      time: START,
      clients: [observe("1", "ready", { cameBack: "2026-06-01", losses }), ...many],
      plan: plan([stage("a", "paused"), stage("b", "active", { routes: ["GET /books"] })], [storm]),
    },
    { time: START + 3_600_000 },
  ];
  const receivers = [{ name: "a", url: "", key: Buffer.alloc(0), events: new Set(EVENTS) }];
  let stored = NOTHING;
  for (const look of looks)
    ({ stored } = takeLook(stored, { clients: undefined, plan: undefined, receivers, ...look }));
  return [
    ...stored.waiting.map(({ notice }) => notice),
    { type: "test", timestamp, data: { receiver: "a" } },
  ];
}

/** The names of all members of a value, and the types of the others. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return "";
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

describe("docs/reference/notices.md", () => {
  const made = makeAll();

  test("has one example for each kind of notice", () => {
    const types = examples.map(({ type }) => type);
    expect(types.toSorted()).toEqual([...new Set(made.map(({ type }) => type))].toSorted());
    expect(types).toEqual(expect.arrayContaining([...EVENTS]));
  });

  test.each(examples.map((example) => [example.type, example] as const))(
    "has the members of %s that the gateway sends",
    (type, example) => {
      const notice =
        made.find((each) => each.type === type && each.type !== "stage.begins") ??
        made.findLast((each) => each.type === type);
      const withoutLists = (shape: unknown): string =>
        JSON.stringify(shape).replaceAll(/"(?:routes|clients)":\["?"?\]/g, '"list":[]');
      expect(withoutLists(shapeOf(example))).toBe(withoutLists(shapeOf(notice)));
    },
  );
});
