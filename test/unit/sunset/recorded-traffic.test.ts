/** Who called before a window, by the summaries of the audit store. */
import { describe, expect, test } from "@jest/globals";
import type {
  ClientUsage,
  RouteUsage,
  TokenQuery,
  TokenUsage,
  UsageQuery,
} from "../../../src/audit/usage.ts";
import { identityOfKey } from "../../../src/audit/summary-key.ts";
import { CLIENTS_FILE } from "../../../src/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/operator-files/operator-file.ts";
import { readTraffic } from "../../../src/sunset/recorded-traffic.ts";

const TOKEN = "0123456789abcdef";
const OTHER_TOKEN = "fedcba9876543210";
const DIRECTORY = parseOperatorFile(
  {
    file: "clients.yaml",
    text: `reports: { tokens: ["${TOKEN}", "${OTHER_TOKEN}"] }\nmobile: { applications: [5f0c-mobile] }`,
  },
  CLIENTS_FILE,
);
/** The window begins at ten. */
const START = Date.parse("2026-06-15T10:00:00Z");

const row = (first: string, last = first, changes: Partial<RouteUsage> = {}): RouteUsage => ({
  client: TOKEN,
  lane: "alpha",
  route: "GET /books",
  status: 200,
  requests: 1,
  lossy: 0,
  first: `${first}:00.000Z`,
  last: `${last}:00.000Z`,
  sample: "a",
  ...changes,
});

/** A token that is counted under another key. */
const counted = (client: string, lastAlpha: string): TokenUsage =>
  ({ fingerprint: TOKEN, client, lastAlpha: `${lastAlpha}:00.000Z`, userAgent: null }) as TokenUsage;

function trafficOf(
  rows: readonly RouteUsage[],
  tokens: readonly TokenUsage[] = [],
  onQuery: (query: UsageQuery) => void = () => {},
) {
  const reader = {
    tokens: async (query: TokenQuery) =>
      tokens.filter(({ fingerprint }) => "fingerprints" in query && query.fingerprints.includes(fingerprint)),
    async usage(query: UsageQuery) {
      onQuery(query);
      return rows.filter(({ lane }) => query.lane === undefined || lane === query.lane);
    },
    clients: async () =>
      rows.map(({ client }) => ({ client, ...identityOfKey(client), userAgent: null }) as ClientUsage),
  };
  return readTraffic(reader, DIRECTORY, START);
}

describe("a client counts as calling", () => {
  test.each<[string, readonly RouteUsage[], boolean]>([
    ["with a call in the 14 days before the window", [row("2026-06-01T10:00")], true],
    ["with a call a minute before it", [row("2026-06-15T09:59")], true],
    ["with another of its tokens", [row("2026-06-10T10:00", undefined, { client: OTHER_TOKEN })], true],
    ["with a call that was rejected", [row("2026-06-10T10:00", undefined, { status: 500 })], true],
    ["but not with an earlier call of that day", [row("2026-06-01T09:59")], false],
    ["but not with a call in the window itself", [row("2026-06-15T10:00")], false],
    ["but not with a call of the new API", [row("2026-06-10T10:00", undefined, { lane: "native" })], false],
    ["but not without any call", [], false],
  ])("%s", async (_title, rows, isCalling) => {
    expect(await (await trafficOf(rows)).calling(["reports"])).toEqual(isCalling ? ["reports"] : []);
  });

  test("by the fingerprint of a token as well", async () => {
    const traffic = await trafficOf([row("2026-06-10T10:00")]);
    expect(await traffic.calling([TOKEN, OTHER_TOKEN])).toEqual([TOKEN]);
  });

  describe("with a token that is counted under an application or a label:", () => {
    const APPLICATION = "application:app-1";
    const NAMED_APPLICATION = "application:5f0c-mobile";
    test.each<[string, TokenUsage, readonly RouteUsage[], readonly string[]]>([
      ["its last call was in these days", counted(APPLICATION, "2026-06-15T09:00"), [], ["reports", TOKEN]],
      ["so for a label", counted("label:acme", "2026-06-15T09:00"), [], ["reports", TOKEN]],
      [
        "not if only other tokens of it called",
        counted(APPLICATION, "2026-06-01T09:00"),
        [row("2026-06-10T10:00", undefined, { client: APPLICATION })],
        [],
      ],
      [
        "its last call was in the window, and its application called before",
        counted(APPLICATION, "2026-06-15T10:30"),
        [row("2026-06-10T10:00", undefined, { client: APPLICATION })],
        ["reports", TOKEN],
      ],
      ["not if all calls were in the window", counted(APPLICATION, "2026-06-15T10:30"), [], []],
      [
        "not by a name that its application does not have",
        counted(NAMED_APPLICATION, "2026-06-15T09:00"),
        [],
        [TOKEN],
      ],
    ])("%s", async (_title, token, rows, expected) => {
      const traffic = await trafficOf(rows, [token]);
      expect(await traffic.calling(["reports", TOKEN, OTHER_TOKEN])).toEqual(expected);
    });
  });

  test("whatever its share of all calls is: all rows are read", async () => {
    const limits: (number | undefined)[] = [];
    await trafficOf([], [], ({ limit }) => limits.push(limit));
    expect(limits).toEqual([1_000_000]);
  });
});

describe("the usual rate", () => {
  const reports = (fingerprint: string) => ({ name: "reports", fingerprint });

  test("is the average of 14 days, of all tokens of a client", async () => {
    const traffic = await trafficOf([
      row("2026-06-02T10:00", "2026-06-14T10:00", { requests: 14 * 24 * 60 }),
      row("2026-06-02T10:00", "2026-06-14T10:00", { requests: 14 * 24 * 60, client: OTHER_TOKEN }),
    ]);
    expect(traffic.usualRate(reports(TOKEN))).toBeCloseTo(2);
  });

  test("of an application is that of all its tokens, and of nobody who only names it", async () => {
    const traffic = await trafficOf([
      row("2026-06-02T10:00", "2026-06-14T10:00", { requests: 14 * 24 * 60, client: "application:app-1" }),
    ]);
    const client = { name: undefined, fingerprint: "aaaaaaaaaaaaaaaa" };
    expect(traffic.usualRate({ ...client, application: "app-1" })).toBeCloseTo(1);
    expect(traffic.usualRate(client)).toBeUndefined();
  });

  test("of a token that its application counts is that of the application, whatever its name is", async () => {
    const traffic = await trafficOf([
      row("2026-06-02T10:00", "2026-06-14T10:00", { requests: 14 * 24 * 60, client: "application:app-1" }),
      row("2026-06-10T10:00", undefined, { client: OTHER_TOKEN }),
    ]);
    expect(traffic.usualRate({ ...reports(TOKEN), application: "app-1" })).toBeCloseTo(1);
  });

  test("is unknown for tokens that were not accepted in these days, whatever their name", async () => {
    const traffic = await trafficOf([row("2026-06-10T10:00")]);
    expect(traffic.usualRate(reports("aaaaaaaaaaaaaaaa"))).toBeUndefined();
    expect(traffic.usualRate({ name: "reports", fingerprint: undefined })).toBeUndefined();
  });
});
