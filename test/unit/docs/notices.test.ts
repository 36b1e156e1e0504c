/** docs/reference/notices.md, held against the form of the file and what the gateway sends. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { makeDigest } from "../../../src/notices/digest.ts";
import { findNews, type Facts, type Memory } from "../../../src/notices/find-news.ts";
import { EVENTS, type Notice } from "../../../src/notices/notice.ts";
import { limitNotices, MAX_PER_HOUR } from "../../../src/notices/outbox.ts";
import { mailOf } from "../../../src/notices/templates.ts";
import { observe, plan, stage, START } from "../../support/notices.ts";

const page = readFileSync("docs/reference/notices.md", "utf8");
const examples = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]) => JSON.parse(text) as Notice,
);

const timestamp = new Date(START).toISOString();

/** A notice of each kind, as the gateway makes it. */
function makeAll(): Notice[] {
  const losses = [{ route: "GET /books", loss: "the author", firstDay: "2026-06-01" }];
  const storm = { action: "pause", stage: "a", by: "gateway", at: timestamp, reason: "because" } as const;
  const looks: Partial<Facts>[] = [
    { clients: [observe("1", "moving")], plan: plan([stage("a", "active"), stage("b", "planned")]) },
    {
      clients: [observe("1", "ready", { cameBack: "2026-06-01", losses }), observe("2", "not begun")],
      plan: plan([stage("a", "paused"), stage("b", "active", { routes: ["GET /books"] })], [storm]),
    },
  ];
  let memory: Memory = {};
  const made: Notice[] = [];
  for (const look of looks) {
    const news = findNews(memory, { time: START, clients: undefined, plan: undefined, ...look });
    ({ memory } = news);
    made.push(...news.notices);
    if (news.changes.length === 0) continue;
    const state = { since: START, changes: news.changes.slice(0, 1), more: 0 };
    const data = makeDigest("daily", state, look.clients ?? [], plan([stage("a", "planned")]));
    made.push({ type: "digest", timestamp, data });
  }
  const receivers = [{ name: "a", target: { to: [] }, events: new Set(EVENTS), digests: new Set<never>() }];
  const many = Array.from({ length: MAX_PER_HOUR + 1 }, () =>
    made.find(({ type }) => type === "client.new")!,
  );
  const empty = { version: 1, memory: {}, waiting: [], hours: {}, digests: {} };
  const { hours } = limitNotices(empty, many, receivers, START);
  const { added } = limitNotices({ ...empty, hours }, [], receivers, START + 3_600_000);
  return [
    ...made,
    ...added.flatMap(({ notice }) => notice ?? []),
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

  test.each(examples.map((example) => [example.type, example] as const))(
    "%s has a mail, too",
    (_type, example) => {
      const { subject, text } = mailOf(example);
      expect(subject.length).toBeGreaterThan(10);
      expect(subject.length).toBeLessThanOrEqual(120);
      expect(text).toMatch(/^[^\n]+\n/);
      expect(text).not.toContain("undefined");
    },
  );
});
