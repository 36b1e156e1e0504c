/** What a plan decides about a request, by a clock that the test drives. */
import { describe, expect, test } from "@jest/globals";
import {
  CLIENTS_FILE,
  NO_CLIENTS,
  type ClientDirectory,
} from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { createPlan, type PlanConditions, type PlanQuery } from "../../../src/migration/plan/plan.ts";
import { planFile } from "../../../src/migration/plan/plan-file.ts";

const ROUTE = "GET /books";
const OTHER_ROUTE = "POST /books";
const TOKEN = "0123456789abcdef";

const NOTHING_STOPS: PlanConditions = { isPaused: () => false, mayBegin: () => true };

const directoryOf = (text: string): ClientDirectory =>
  parseOperatorFile({ file: "clients.yaml", text }, CLIENTS_FILE);

function planOf(text: string, directory = NO_CLIENTS) {
  const context = {
    routes: [ROUTE, OTHER_ROUTE],
    fields: new Map([["book", ["title", "author.name"]]]),
    directory,
    hasAudit: true,
    published: undefined,
  };
  const plan = createPlan(
    parseOperatorFile(
      { file: "plan.yaml", text: `announced: 2026-01-01\n${text}` },
      planFile(() => context),
    ),
  );
  function queryAt(moment: string, query: Partial<PlanQuery> & { name?: string; token?: string }): PlanQuery {
    const { name, token, ...rest } = query;
    const client = { name, fingerprint: token };
    return { client, route: ROUTE, time: Date.parse(moment), isKnownClient: true, ...rest };
  }
  return {
    plan,
    decide(
      moment: string,
      query: Parameters<typeof queryAt>[1] = {},
      conditions: Partial<PlanConditions> = {},
    ): string | undefined {
      const decision = plan.decide(queryAt(moment, query), { ...NOTHING_STOPS, ...conditions });
      return decision?.kind === "brown_out"
        ? `brown_out until ${new Date(decision.window.until).toISOString()}`
        : decision?.kind;
    },
    hidden: (moment: string, query: Parameters<typeof queryAt>[1] = {}) =>
      plan
        .hiddenFields(queryAt(moment, query), NOTHING_STOPS)
        .map(({ object, field }) => `${object}.${field}`),
  };
}

const WEEKLY = `stages: [{ brown_out: "0 10 * * 1", for: 1h, from: 2026-03-01, until: 2026-04-01 }]`;

describe("a window", () => {
  test("begins two seconds after its minute, and ends when its length is over", () => {
    // The 2nd of March 2026 is a Monday.
    const { decide } = planOf(WEEKLY);
    expect(decide("2026-03-02T09:59:59.999Z")).toBeUndefined();
    expect(decide("2026-03-02T10:00:01.999Z")).toBeUndefined();
    expect(decide("2026-03-02T10:00:02.000Z")).toBe("brown_out until 2026-03-02T11:00:00.000Z");
    expect(decide("2026-03-02T10:59:59.999Z")).toBe("brown_out until 2026-03-02T11:00:00.000Z");
    expect(decide("2026-03-02T11:00:00.000Z")).toBeUndefined();
    expect(decide("2026-03-09T10:30:00.000Z")).toBe("brown_out until 2026-03-09T11:00:00.000Z");
  });

  test("does not begin before its first day, and not from its last day on", () => {
    const { decide } = planOf(WEEKLY);
    expect(decide("2026-02-23T10:30:00Z")).toBeUndefined();
    expect(decide("2026-03-30T10:30:00Z")).toBe("brown_out until 2026-03-30T11:00:00.000Z");
    expect(decide("2026-04-06T10:30:00Z")).toBeUndefined();
  });

  test("is found by a gateway that starts within it, or whose clock is set back into it", () => {
    const { decide } = planOf(WEEKLY);
    expect(decide("2026-03-09T10:07:00Z")).toBe("brown_out until 2026-03-09T11:00:00.000Z");
    expect(decide("2026-03-02T10:07:00Z")).toBe("brown_out until 2026-03-02T11:00:00.000Z");
    expect(decide("2026-03-02T09:00:00Z")).toBeUndefined();
  });

  test("follows its time zone into summer time, with its first day", () => {
    const { decide } = planOf(
      `stages: [{ brown_out: "0 0 * * *", for: 15m, from: 2026-03-28, zone: Europe/Berlin }]`,
    );
    expect(decide("2026-03-26T23:05:00Z")).toBeUndefined();
    expect(decide("2026-03-27T23:05:00Z")).toBe("brown_out until 2026-03-27T23:15:00.000Z");
    expect(decide("2026-03-29T23:05:00Z")).toBeUndefined();
    expect(decide("2026-03-29T22:05:00Z")).toBe("brown_out until 2026-03-29T22:15:00.000Z");
  });

  test("affects only its routes and clients", () => {
    const { decide } = planOf(
      `stages: [{ brown_out: "0 10 * * *", for: 1h, from: 2026-03-01, routes: ["${ROUTE}"], clients: ["${TOKEN}"] }]`,
    );
    const moment = "2026-03-02T10:30:00Z";
    expect(decide(moment, { token: TOKEN })).toBe("brown_out until 2026-03-02T11:00:00.000Z");
    expect(decide(moment, { token: TOKEN, route: OTHER_ROUTE })).toBeUndefined();
    expect(decide(moment, { token: "fedcba9876543210" })).toBeUndefined();
    expect(decide(moment)).toBeUndefined();
  });

  test("does not affect a client that is allowed by name until a later day", () => {
    const { decide } = planOf(`${WEEKLY}\nallow: { billing: 2026-03-09 }`, directoryOf("billing: {}"));
    expect(decide("2026-03-02T10:30:00Z", { name: "billing" })).toBeUndefined();
    expect(decide("2026-03-09T10:30:00Z", { name: "billing" })).toBe(
      "brown_out until 2026-03-09T11:00:00.000Z",
    );
  });

  test("of two that overlap, the one that ends last counts", () => {
    const { decide } = planOf(`stages:
  - { brown_out: "0 10 * * *", for: 1h, from: 2026-03-01 }
  - { brown_out: "30 10 * * *", for: 1h, from: 2026-03-01 }`);
    expect(decide("2026-03-02T10:45:00Z")).toBe("brown_out until 2026-03-02T11:30:00.000Z");
  });

  test("does not begin while the clients that it waits for call", () => {
    const { decide } = planOf(WEEKLY);
    expect(decide("2026-03-02T10:30:00Z", {}, { mayBegin: () => false })).toBeUndefined();
  });

  test("has no effect while its stage is paused", () => {
    const { decide } = planOf(WEEKLY);
    const isPaused = (stage: string) => stage.startsWith("brown-out 0 10");
    expect(decide("2026-03-02T10:30:00Z", {}, { isPaused })).toBeUndefined();
  });
});

describe("a freeze", () => {
  const FREEZE = "stages: [{ freeze: 2026-03-01 }]";

  test("refuses only new clients, two seconds after its day has started", () => {
    const { decide } = planOf(FREEZE);
    expect(decide("2026-03-01T00:00:01.999Z", { isKnownClient: false })).toBeUndefined();
    expect(decide("2026-03-01T00:00:02Z", { isKnownClient: false })).toBe("freeze");
    expect(decide("2026-03-01T00:00:02Z", { isKnownClient: true })).toBeUndefined();
  });

  test("wins over a window, which would tell new clients to try again", () => {
    const { decide } = planOf(`stages:
  - freeze: 2026-03-01
  - { brown_out: "0 10 * * *", for: 1h, from: 2026-03-01 }`);
    expect(decide("2026-03-02T10:30:00Z", { isKnownClient: false })).toBe("freeze");
  });
});

describe("the end", () => {
  const DIRECTORY = directoryOf(`
billing: { tokens: ["${TOKEN}"] }
early: { ends: 2026-05-01 }
late: { ends: 2026-09-01 }
`);
  const ENDS = `end: 2026-07-01
allow: { billing: 2026-08-01 }
stages:
  - { end: 2026-04-01, routes: ["${OTHER_ROUTE}"] }
  - { end: 2026-06-01, clients: [batch] }`;

  test("comes for some routes and clients first, then for all", () => {
    const { decide } = planOf(ENDS, directoryOf("batch: {}\nbilling: {}"));
    expect(decide("2026-04-02T00:00:00Z", { route: OTHER_ROUTE })).toBe("end");
    expect(decide("2026-04-02T00:00:00Z")).toBeUndefined();
    expect(decide("2026-06-02T00:00:00Z", { name: "batch" })).toBe("end");
    expect(decide("2026-06-02T00:00:00Z", { name: "other" })).toBeUndefined();
    expect(decide("2026-07-01T00:00:01.999Z", { name: "other" })).toBeUndefined();
    expect(decide("2026-07-01T00:00:02Z", { name: "other" })).toBe("end");
  });

  test("is not for a client that is allowed until a later day", () => {
    const { decide } = planOf(ENDS, directoryOf("batch: {}\nbilling: {}"));
    expect(decide("2026-07-31T23:59:59Z", { name: "billing", route: OTHER_ROUTE })).toBeUndefined();
    expect(decide("2026-08-01T00:00:02Z", { name: "billing" })).toBe("end");
  });

  test("has a different day for a client with its own date in the directory", () => {
    const { decide } = planOf("end: 2026-07-01", DIRECTORY);
    expect(decide("2026-05-02T00:00:00Z", { name: "early" })).toBe("end");
    expect(decide("2026-05-02T00:00:00Z", { name: "billing" })).toBeUndefined();
    expect(decide("2026-08-02T00:00:00Z", { name: "late" })).toBeUndefined();
    expect(decide("2026-09-02T00:00:00Z", { name: "late" })).toBe("end");
  });

  test("of single clients needs no end for all", () => {
    const { decide } = planOf("", DIRECTORY);
    expect(decide("2026-05-02T00:00:00Z", { name: "early" })).toBe("end");
    expect(decide("2036-05-02T00:00:00Z", { name: "billing" })).toBeUndefined();
  });
});

describe("a field brown-out", () => {
  test("leaves a field out in its windows, and rejects nothing", () => {
    const { hidden, decide } = planOf(
      `stages: [{ field: book.title, brown_out: "0 10 * * *", for: 1h, from: 2026-03-01 }]`,
    );
    expect(hidden("2026-03-02T10:30:00Z")).toEqual(["book.title"]);
    expect(hidden("2026-03-02T11:30:00Z")).toEqual([]);
    expect(decide("2026-03-02T10:30:00Z")).toBeUndefined();
  });
});

describe("the headers of responses", () => {
  test("have the end of the route and of the client", () => {
    const { plan } = planOf(
      `end: 2026-07-01
allow: { billing: 2026-08-01 }
stages: [{ end: 2026-04-01, routes: ["${OTHER_ROUTE}"] }]`,
      directoryOf("billing: {}"),
    );
    const sunsetOf = (name: string | undefined, route: string) =>
      plan.headersFor({ name, fingerprint: TOKEN }, route)["sunset"];
    expect(sunsetOf(undefined, ROUTE)).toBe("Wed, 01 Jul 2026 00:00:00 GMT");
    expect(sunsetOf(undefined, OTHER_ROUTE)).toBe("Wed, 01 Apr 2026 00:00:00 GMT");
    expect(sunsetOf("billing", OTHER_ROUTE)).toBe("Sat, 01 Aug 2026 00:00:00 GMT");
  });

  test("have the end of the token, and no other token of the same client has it", () => {
    const { plan } = planOf(
      `end: 2026-07-01
allow: { billing: 2026-03-01, ${TOKEN}: 2026-09-01 }
stages: [{ end: 2026-04-01, clients: ["${TOKEN}"] }]`,
      directoryOf("billing: {}"),
    );
    const sunsetOf = (name: string | undefined, fingerprint: string) =>
      plan.headersFor({ name, fingerprint }, ROUTE)["sunset"];
    expect(sunsetOf("billing", TOKEN)).toBe("Wed, 01 Apr 2026 00:00:00 GMT");
    expect(sunsetOf("billing", "fedcba9876543210")).toBe("Wed, 01 Jul 2026 00:00:00 GMT");
    expect(sunsetOf(undefined, TOKEN)).toBe("Tue, 01 Sep 2026 00:00:00 GMT");
  });

  test("have no Sunset where no end is known", () => {
    const { plan } = planOf("");
    expect(Object.keys(plan.headersFor({ name: undefined, fingerprint: undefined }, ROUTE))).toEqual([
      "deprecation",
    ]);
  });
});
