/** Who counts as a client that used the old API before. */
import { describe, expect, test } from "@jest/globals";
import type {
  ClientUsage,
  RouteUsage,
  TokenQuery,
  TokenUsage,
  UsageQuery,
} from "../../../src/audit/usage.ts";
import { identityOfKey } from "../../../src/audit/summary-key.ts";
import { CLIENTS_FILE, NO_CLIENTS, type ClientDirectory } from "../../../src/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/operator-files/operator-file.ts";
import { knownByAudit, knownByState } from "../../../src/sunset/known-clients.ts";

const TOKEN = "0123456789abcdef";
const OTHER_TOKEN = "fedcba9876543210";
const FREEZE = Date.parse("2026-06-01T00:00:00Z");
const BEFORE = "2026-05-01T00:00:00.000Z";
const AFTER = "2026-06-02T00:00:00.000Z";

const isRoute = (route: string): boolean => route === "GET /books";

const row = (changes: Partial<RouteUsage>): RouteUsage => ({
  client: TOKEN,
  lane: "alpha",
  route: "GET /books",
  status: 200,
  requests: 1,
  lossy: 0,
  first: BEFORE,
  last: BEFORE,
  sample: "a",
  ...changes,
});

/** Summaries of some rows, which count how often they are read. @param keys The keys of tokens, by their fingerprints */
function summaries(
  rows: readonly RouteUsage[],
  userAgent: string | null = null,
  keys: Readonly<Record<string, string>> = {},
) {
  let reads = 0;
  return {
    reads: () => reads,
    reader: {
      async usage({ clients }: UsageQuery) {
        reads += 1;
        return rows.filter(({ client }) => clients === undefined || clients.includes(client));
      },
      tokens: async (query: TokenQuery) =>
        Object.entries(keys)
          .filter(([fingerprint]) => "fingerprints" in query && query.fingerprints.includes(fingerprint))
          .map(([fingerprint, client]) => ({ fingerprint, client }) as TokenUsage),
      clients: async () =>
        rows.map(({ client }) => ({ client, ...identityOfKey(client), userAgent }) as ClientUsage),
    },
  };
}

const isKnown = async (rows: readonly RouteUsage[], directory: ClientDirectory = NO_CLIENTS, agent = "a/1") =>
  knownByAudit(summaries(rows, agent).reader, () => directory, isRoute).isKnown(
    { name: directory.nameOf({ userAgent: agent }), fingerprint: TOKEN },
    FREEZE,
  );

describe("by the summaries of the audit, a client is", () => {
  test.each<[string, Partial<RouteUsage>, boolean]>([
    ["known if its token was accepted before", {}, true],
    ["known if only errors are recorded from before", { status: 404 }, true],
    ["known if it was served later", { first: AFTER, last: AFTER }, true],
    ["new if it only signed in later", { route: "POST /oauth/token", first: AFTER, last: AFTER }, false],
    ["new if it was only refused since", { status: 403, first: AFTER, last: AFTER }, false],
    ["new if it used the new API alone", { lane: "native", route: null }, false],
    ["new if another token was used", { client: OTHER_TOKEN }, false],
    ["new if no token like this was accepted", { client: "unaccepted" }, false],
  ])("%s", async (_title, changes, expected) => {
    expect(await isKnown([row(changes)])).toBe(expected);
  });

  test("known if another token of its name was accepted before", async () => {
    const directory = parseOperatorFile(
      { file: "clients.yaml", text: `reports: { user_agents: ["reports/*"] }` },
      CLIENTS_FILE,
    );
    expect(await isKnown([row({ client: OTHER_TOKEN })], directory, "reports/1")).toBe(true);
    expect(await isKnown([row({ client: OTHER_TOKEN })], directory, "other/1")).toBe(false);
  });

  test("known if another token of its application was accepted before", async () => {
    const known = knownByAudit(
      summaries([row({ client: "application:app-1" })]).reader,
      () => NO_CLIENTS,
      isRoute,
    );
    const client = { name: undefined, fingerprint: TOKEN };
    expect(await known.isKnown({ ...client, application: "app-2" }, FREEZE)).toBe(false);
    expect(await known.isKnown({ ...client, application: "app-1" }, FREEZE)).toBe(true);
  });

  test.each(["label:acme", "application:app-1"])(
    "known by a token that was counted under %s, whatever its label and application are now",
    async (key) => {
      const { reader } = summaries([row({ client: key })], null, { [TOKEN]: key });
      const known = knownByAudit(reader, () => NO_CLIENTS, isRoute);
      const changed = { name: undefined, label: "acme-eu", application: "app-2" };
      expect(await known.isKnown({ ...changed, fingerprint: OTHER_TOKEN }, FREEZE)).toBe(false);
      expect(await known.isKnown({ ...changed, fingerprint: TOKEN }, FREEZE)).toBe(true);
      expect(await known.isKnown({ name: undefined, fingerprint: TOKEN }, FREEZE)).toBe(true);
    },
  );

  test("known if another token of its entry was counted under an application", async () => {
    const directory = parseOperatorFile(
      {
        file: "clients.yaml",
        text: `reports: { tokens: ["${TOKEN}", "${OTHER_TOKEN}"], user_agents: ["reports/*"] }`,
      },
      CLIENTS_FILE,
    );
    const { reader } = summaries([row({ client: "application:app-1" })], null, {
      [TOKEN]: "application:app-1",
    });
    const known = knownByAudit(reader, () => directory, isRoute);
    expect(await known.isKnown({ name: "reports", fingerprint: OTHER_TOKEN }, FREEZE)).toBe(true);
    // Its name is that of its user agent.
    expect(await known.isKnown({ name: "reports", fingerprint: "aaaaaaaaaaaaaaaa" }, FREEZE)).toBe(false);
  });

  test("known if it has neither a name nor a token, since nobody can say that it is new", () => {
    const known = knownByAudit(summaries([]).reader, () => NO_CLIENTS, isRoute);
    expect(known.isKnown({ name: undefined, fingerprint: undefined }, FREEZE)).toBe(true);
  });

  test("looked up once, whether it is known or new", async () => {
    const { reader, reads } = summaries([row({})]);
    const known = knownByAudit(reader, () => NO_CLIENTS, isRoute);
    for (const fingerprint of [TOKEN, OTHER_TOKEN]) {
      const client = { name: undefined, fingerprint };
      const first = await known.isKnown(client, FREEZE);
      const before = reads();
      expect(known.isKnown(client, FREEZE)).toBe(first);
      expect(reads()).toBe(before);
    }
  });

  test("not cached if the summaries can't be read", async () => {
    let isBroken = true;
    const { reader } = summaries([row({})]);
    const usage: typeof reader.usage = async (query) => {
      if (isBroken) throw new Error("the store is down");
      return reader.usage(query);
    };
    const known = knownByAudit({ ...reader, usage }, () => NO_CLIENTS, isRoute);
    const client = { name: undefined, fingerprint: TOKEN };
    await expect(known.isKnown(client, FREEZE)).rejects.toThrow("the store is down");
    isBroken = false;
    expect(await known.isKnown(client, FREEZE)).toBe(true);
  });
});

describe("by the state store, a client is", () => {
  test("known once it was noted, by its name and by its token", async () => {
    const members = new Set<string>();
    const store = {
      addToSet: async (_key: string, member: string) => Boolean(members.add(member)),
      setMembers: async () => [...members],
    };
    const known = knownByState(store, () => {});
    known.note({ name: "reports", fingerprint: TOKEN });
    expect(await known.isKnown({ name: undefined, fingerprint: TOKEN }, FREEZE)).toBe(true);
    expect(await known.isKnown({ name: "reports", fingerprint: OTHER_TOKEN }, FREEZE)).toBe(true);
    expect(await known.isKnown({ name: undefined, fingerprint: OTHER_TOKEN }, FREEZE)).toBe(false);
  });
});
