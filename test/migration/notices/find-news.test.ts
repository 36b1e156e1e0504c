/** News by comparing two looks: what clients did, and what the plan does. Clients that came back are a test double. */
import { describe, expect, test } from "@jest/globals";
import {
  findNews,
  MAX_KEYS,
  MAX_LOSSES,
  type Facts,
  type Memory,
  type News,
} from "../../../src/migration/notices/find-news.ts";
import { observe, plan, stage, START } from "../../support/notices.ts";

const KEY = "0000000000000001";

/** What the last of several looks finds. */
function lookAt(...looks: readonly Partial<Facts>[]): News {
  let memory: Memory = {};
  let news: News | undefined;
  for (const look of looks) {
    news = findNews(memory, { time: START, clients: undefined, plan: undefined, ...look });
    // As it is read from the store.
    memory = JSON.parse(JSON.stringify(news.memory)) as Memory;
  }
  return news!;
}

/** The news of the last look, in words. */
const wordsOf = ({ items }: News): string[] =>
  items.map(({ notice: { type, data } }) =>
    [
      type,
      "client" in data ? data.client : "stage" in data ? data.stage : "",
      "loss" in data ? data.loss : "",
    ]
      .filter(Boolean)
      .join(" "),
  );

describe("clients", () => {
  const moving = observe(KEY, "moving");

  test("that are there at the first look are no news", () => {
    const cameBack = "2026-05-20";
    const losses = [{ route: "GET /books", loss: "the author", firstDay: "2026-05-01" }];
    expect(wordsOf(lookAt({ clients: [observe(KEY, "ready", { cameBack, losses })] }))).toEqual([]);
  });

  test("that were not there before are new", () => {
    expect(wordsOf(lookAt({ clients: [] }, { clients: [moving] }))).toEqual([`client.new ${KEY}`]);
    expect(wordsOf(lookAt({ clients: [] }, { clients: [moving] }, { clients: [moving] }))).toEqual([]);
  });

  test("that get a name are not new, also if several become one", () => {
    const other = observe("0000000000000002", "silent");
    const named = observe(KEY, "moving", { name: "billing" });
    const both = { ...named, usage: { ...named.usage, keys: [other.usage.client, KEY] } };
    expect(wordsOf(lookAt({ clients: [moving, other] }, { clients: [both] }))).toEqual([]);
  });

  test("that could not be read are kept", () => {
    expect(wordsOf(lookAt({ clients: [moving] }, {}, { clients: [moving] }))).toEqual([]);
  });

  test("are ready when they become it, and again after they were not", () => {
    const ready = observe(KEY, "ready");
    expect(wordsOf(lookAt({ clients: [moving] }, { clients: [ready] }))).toEqual([`client.ready ${KEY}`]);
    expect(wordsOf(lookAt({ clients: [moving] }, { clients: [ready] }, { clients: [ready] }))).toEqual([]);
    const again = lookAt({ clients: [ready] }, { clients: [moving] }, { clients: [ready] });
    expect(wordsOf(again)).toEqual([`client.ready ${KEY}`]);
  });

  test("are silent without a notice", () => {
    expect(wordsOf(lookAt({ clients: [moving] }, { clients: [observe(KEY, "silent")] }))).toEqual([]);
  });

  test("came back once for each time", () => {
    const at = (cameBack: string): Partial<Facts> => ({ clients: [observe(KEY, "moving", { cameBack })] });
    const first = at("2026-05-20");
    const second = at("2026-05-30");
    expect(wordsOf(lookAt({ clients: [moving] }, first))).toEqual([`client.came_back ${KEY}`]);
    expect(wordsOf(lookAt({ clients: [moving] }, first, first))).toEqual([]);
    expect(wordsOf(lookAt({ clients: [moving] }, first, second))).toEqual([`client.came_back ${KEY}`]);
  });

  test("lose a meaning once for each loss", () => {
    const losses = ["the author", "the title"].map((loss) => ({
      route: "GET /books",
      loss,
      firstDay: "2026-06-01",
    }));
    const one = { clients: [observe(KEY, "moving", { losses: losses.slice(0, 1) })] };
    const two = { clients: [observe(KEY, "moving", { losses })] };
    expect(wordsOf(lookAt({ clients: [moving] }, one))).toEqual([`loss ${KEY} the author`]);
    expect(wordsOf(lookAt({ clients: [moving] }, one, two))).toEqual([`loss ${KEY} the title`]);
    expect(wordsOf(lookAt({ clients: [moving] }, two, two))).toEqual([]);
  });

  test.each([
    ["one client", MAX_LOSSES.client, "sync/1.0"],
    ["all clients without a name", MAX_LOSSES.group, undefined],
  ])("lose no more meanings than are remembered of %s: %d", (_of, most, userAgent) => {
    const losses = Array.from({ length: 5 }, (_, n) => ({
      route: "GET /books",
      loss: `${n}`,
      firstDay: "2026-06-01",
    }));
    const clients = Array.from({ length: most / 5 + 1 }, (_, n) =>
      observe(`key${n}`, "moving", { losses, userAgent: userAgent ?? `agent${n}` }),
    );
    const before = clients.map((client) => ({ ...client, losses: [] }));
    const news = lookAt({ clients: before }, { clients });
    expect([wordsOf(news).length, news.ignored.losses]).toEqual([most, 5]);
    expect(wordsOf(lookAt({ clients: before }, { clients }, { clients }))).toEqual([]);
  });

  test.each([
    ["one client", MAX_KEYS.client, "sync/1.0"],
    ["all clients without a name", MAX_KEYS.group, undefined],
  ])(
    "above the bound of %s are counted and never reported, and those that are remembered stay: %d",
    (_of, most, userAgent) => {
      const clients = Array.from({ length: most + 5 }, (_, n) =>
        observe(`key${n}`, "moving", { userAgent: userAgent ?? `agent${n}` }),
      );
      const news = lookAt({ clients: clients.slice(0, -5) }, { clients: clients.toReversed() });
      expect([wordsOf(news).length, news.ignored.clients]).toEqual([0, 5]);
    },
  );
});

describe("stages", () => {
  const planned = { plan: plan([stage("first", "planned")]) };
  const active = { plan: plan([stage("first", "active")]) };
  const paused = { plan: plan([stage("first", "paused")]) };

  test("that apply at the first look are no news", () => {
    expect(wordsOf(lookAt(active))).toEqual([]);
  });

  test("begin and end once", () => {
    expect(wordsOf(lookAt(planned, active))).toEqual(["stage.begins first"]);
    expect(wordsOf(lookAt(planned, active, active))).toEqual([]);
    expect(wordsOf(lookAt(planned, active, planned))).toEqual(["stage.ends first"]);
  });

  test("end when they are paused or removed, and say so", () => {
    const stateOf = ({ items: [item] }: News): unknown =>
      item?.notice.type === "stage.ends" ? item.notice.data.state : undefined;
    expect(stateOf(lookAt(active, paused))).toBe("paused");
    expect(stateOf(lookAt(active, { plan: plan([]) }))).toBe("removed");
  });

  test("do not end while the plan is not in force", () => {
    expect(wordsOf(lookAt(active, {}, active))).toEqual([]);
  });
});

describe("a storm of retries", () => {
  const event = (by: string, at: string) =>
    ({
      action: "pause",
      stage: "first",
      by,
      at,
      reason: "billing answered with a storm of retries",
    }) as const;
  const [early, late] = ["2026-06-01T10:00:00.000Z", "2026-06-01T12:00:00.000Z"] as const;

  test("is a pause by the gateway, reported once", () => {
    const before = { plan: plan([]) };
    const after = { plan: plan([], [event("gateway", early)]) };
    const twice = { plan: plan([], [event("gateway", late), event("gateway", early)]) };
    expect(wordsOf(lookAt(before, after))).toEqual(["storm first"]);
    expect(wordsOf(lookAt(before, after, after))).toEqual([]);
    expect(wordsOf(lookAt(before, after, twice))).toEqual(["storm first"]);
    expect(wordsOf(lookAt(after, after))).toEqual([]);
  });

  test("is not a pause by a person", () => {
    expect(wordsOf(lookAt({ plan: plan([]) }, { plan: plan([], [event("Ann", early)]) }))).toEqual([]);
  });
});
