/** Who called before a window, by what the audit store says about single clients. */
import { describe, expect, test } from "@jest/globals";
import type { CallsQuery, DecisionReader } from "../../../src/audit/store/decisions.ts";
import type { TokenPage, TokenUsage } from "../../../src/audit/usage/usage.ts";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { findCalling, readUsualRate } from "../../../src/migration/plan/recorded-traffic.ts";

const TOKEN = "0123456789abcdef";
const OTHER_TOKEN = "fedcba9876543210";
const DIRECTORY = parseOperatorFile(
  {
    file: "clients.yaml",
    text: `
      reports: { tokens: ["${TOKEN}", "${OTHER_TOKEN}"] }
      mobile: { applications: [5f0c-mobile] }
      scripts: { user_agents: ["curl/*"] }`,
  },
  CLIENTS_FILE,
);
/** The window begins at ten. */
const START = Date.parse("2026-06-15T10:00:00Z");
const RANGE = { since: "2026-06-01T10:00:00.000Z", until: "2026-06-15T10:00:00.000Z" };

/** A token, the key under which it is counted, and its last call. */
const counted = (
  client: string,
  lastAlpha: string,
  { fingerprint = TOKEN, userAgent = null }: Partial<TokenUsage> = {},
): TokenUsage => ({ fingerprint, client, lastAlpha: `${lastAlpha}:00.000Z`, userAgent }) as TokenUsage;

/** A store in which some keys called in the range, and which has some tokens. */
function storeWith(calling: readonly string[], tokens: readonly TokenUsage[] = []) {
  const asked: CallsQuery[] = [];
  const pages: TokenPage[] = [];
  const decisions: DecisionReader = {
    wasServed: async () => false,
    async callsOf(query) {
      asked.push(query);
      return { requests: 0, hasCalled: query.clients.some((key) => calling.includes(key)) };
    },
    async tokenPage(page) {
      pages.push(page);
      return tokens
        .filter(({ fingerprint, lastAlpha }) => fingerprint > page.after && (lastAlpha ?? "") >= page.since)
        .toSorted((one, other) => (one.fingerprint < other.fingerprint ? -1 : 1))
        .slice(0, 2);
    },
  };
  return { decisions, asked, pages };
}

const callingOf = (
  names: readonly string[],
  calling: readonly string[],
  tokens: readonly TokenUsage[] = [],
): Promise<readonly string[]> => findCalling(storeWith(calling, tokens).decisions, DIRECTORY, names, START);

describe("a client counts as calling", () => {
  test("by all that its entry lists, or by the fingerprint of a token", async () => {
    const { decisions, asked } = storeWith([OTHER_TOKEN]);
    expect(await findCalling(decisions, DIRECTORY, ["reports", TOKEN, OTHER_TOKEN], START)).toEqual([
      "reports",
      OTHER_TOKEN,
    ]);
    expect(asked).toEqual([
      { clients: ["label:reports", TOKEN, OTHER_TOKEN], ...RANGE },
      { clients: [TOKEN], ...RANGE },
      { clients: [OTHER_TOKEN], ...RANGE },
    ]);
  });

  const APPLICATION = "application:app-1";
  test.each<[string, TokenUsage, readonly string[], readonly string[]]>([
    [
      "by a token that its application counts",
      counted(APPLICATION, "2026-06-15T09:00"),
      [],
      ["reports", TOKEN],
    ],
    ["by a token that a label counts", counted("label:acme", "2026-06-15T09:00"), [], ["reports", TOKEN]],
    ["not by other tokens of an application", counted(APPLICATION, "2026-06-01T09:00"), [APPLICATION], []],
    [
      "by a token that called in the window, if its application called before",
      counted(APPLICATION, "2026-06-15T10:30"),
      [APPLICATION],
      ["reports", TOKEN],
    ],
    ["not if all calls were in the window", counted(APPLICATION, "2026-06-15T10:30"), [], []],
    [
      "not by a name that the application of the token does not have",
      counted("application:5f0c-mobile", "2026-06-15T09:00"),
      [],
      [TOKEN],
    ],
  ])("%s", async (_title, token, calling, expected) => {
    expect(await callingOf(["reports", TOKEN, OTHER_TOKEN], calling, [token])).toEqual(expected);
  });

  test("by the user agent of any token, on whatever page it is", async () => {
    const tokens = ["a", "b", "c", "d", "e"].map((digit) => {
      const fingerprint = digit.repeat(16);
      const userAgent = digit === "e" ? "curl/8" : "other/1";
      return counted(fingerprint, "2026-06-10T10:00", { fingerprint, userAgent });
    });
    expect(await callingOf(["scripts"], [], tokens)).toEqual(["scripts"]);
    expect(await callingOf(["scripts"], [], tokens.slice(0, 4))).toEqual([]);
  });

  test("without reading a page where all are calling by their keys", async () => {
    const { decisions, pages } = storeWith([TOKEN]);
    expect(await findCalling(decisions, DIRECTORY, ["reports"], START)).toEqual(["reports"]);
    expect(pages).toEqual([]);
  });
});

describe("the usual rate", () => {
  const rateOf = (requests: number): Promise<number | undefined> =>
    readUsualRate({ callsOf: async () => ({ requests, hasCalled: true }) }, [TOKEN], START);

  test("is the average of 14 days", async () => {
    expect(await rateOf(14 * 24 * 60 * 2)).toBeCloseTo(2);
  });

  test("is unknown if no call was accepted in these days", async () => {
    expect(await rateOf(0)).toBeUndefined();
  });
});
