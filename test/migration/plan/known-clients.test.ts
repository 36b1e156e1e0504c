/** Who counts as a client that used the old API before. */
import { describe, expect, test } from "@jest/globals";
import type { PastQuery } from "../../../src/audit/store/decisions.ts";
import { AuditUnavailableError } from "../../../src/audit/store/store.ts";
import {
  CLIENTS_FILE,
  NO_CLIENTS,
  type ClientDirectory,
} from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { createKnownClients } from "../../../src/migration/plan/known-clients.ts";
import type { PlanClient } from "../../../src/migration/plan/plan-dates.ts";

const TOKEN = "0123456789abcdef";
const OTHER_TOKEN = "fedcba9876543210";
const FREEZE = Date.parse("2026-06-01T00:00:00Z");

const directoryOf = (text: string): ClientDirectory =>
  parseOperatorFile({ file: "clients.yaml", text }, CLIENTS_FILE);

/** Known clients of a store in which some keys have used the old API, and what the store was asked. */
function knownWith(served: readonly string[], directory: ClientDirectory = NO_CLIENTS) {
  const asked: PastQuery[] = [];
  let answer = async ({ clients }: PastQuery): Promise<boolean> =>
    clients.some((key) => served.includes(key));
  const known = createKnownClients(
    {
      wasServed(query) {
        asked.push(query);
        return answer(query);
      },
    },
    () => directory,
    () => ["GET /books"],
  );
  return {
    asked,
    answerWith: (next: typeof answer) => void (answer = next),
    isKnown: (client: Partial<PlanClient>, isAccepted: () => boolean | Promise<boolean> = () => true) =>
      known.isKnown({ name: undefined, fingerprint: undefined, ...client }, FREEZE, isAccepted),
  };
}

describe("the store is asked about a client", () => {
  test("by its own keys, on the day of the freeze and the routes of the pack", async () => {
    const { isKnown, asked } = knownWith([TOKEN]);
    expect(await isKnown({ fingerprint: TOKEN, label: "acme", application: "app" })).toBe(true);
    const clients = ["label:acme", "application:app", TOKEN];
    expect(asked).toEqual([{ clients, before: FREEZE, routes: ["GET /books"] }]);
  });

  test("and by all that its entry lists, if that lists its token, its label or its application", async () => {
    const directory = directoryOf(`reports: { tokens: ["${TOKEN}", "${OTHER_TOKEN}"], applications: [app] }`);
    const { isKnown, asked } = knownWith([OTHER_TOKEN], directory);
    expect(await isKnown({ name: "reports", fingerprint: TOKEN })).toBe(true);
    expect(asked[0]?.clients).toEqual([TOKEN, "label:reports", "application:app", OTHER_TOKEN]);
  });

  test("and by nothing else where it has the name of its user agent, which anybody can send", async () => {
    const directory = directoryOf(`reports: { tokens: ["${TOKEN}"], user_agents: ["reports/*"] }`);
    const { isKnown, asked } = knownWith([TOKEN], directory);
    expect(await isKnown({ name: "reports", fingerprint: OTHER_TOKEN })).toBe(false);
    expect(asked[0]?.clients).toEqual([OTHER_TOKEN]);
  });

  test("never before v4 has accepted its token: until then it is new", async () => {
    const { isKnown, asked } = knownWith([TOKEN]);
    expect(await isKnown({ fingerprint: TOKEN }, async () => false)).toBe(false);
    expect(asked).toEqual([]);
    // That is not remembered: the token may be accepted a moment later.
    expect(await isKnown({ fingerprint: TOKEN }, async () => true)).toBe(true);
  });

  test("never if it has neither a label nor a token, since it is unknown whether it is new", () => {
    const { isKnown, asked } = knownWith([]);
    expect(isKnown({ name: "reports" })).toBe(true);
    expect(asked).toEqual([]);
  });

  test("once, whether it is known or new, and v4 is not asked again either", async () => {
    const { isKnown, asked } = knownWith([TOKEN]);
    for (const fingerprint of [TOKEN, OTHER_TOKEN]) {
      const first = await isKnown({ fingerprint });
      expect(isKnown({ fingerprint }, () => Promise.reject(new Error("v4 is down")))).toBe(first);
    }
    expect(asked).toHaveLength(2);
  });

  test("once for all its requests that come at the same time", async () => {
    const { isKnown, asked } = knownWith([TOKEN]);
    const requests = Array.from({ length: 100 }, async () => isKnown({ fingerprint: TOKEN }));
    expect(new Set(await Promise.all(requests))).toEqual(new Set([true]));
    expect(asked).toHaveLength(1);
  });
});

test("a client of which the store can't be read is neither known nor new, and is asked about again", async () => {
  const { isKnown, answerWith } = knownWith([]);
  answerWith(() => Promise.reject(new AuditUnavailableError("the store is down")));
  await expect(isKnown({ fingerprint: TOKEN })).rejects.toThrow("the store is down");
  answerWith(async () => true);
  expect(await isKnown({ fingerprint: TOKEN })).toBe(true);
  answerWith(() => Promise.reject(new AuditUnavailableError("the store is down")));
  expect(isKnown({ fingerprint: TOKEN })).toBe(true);
});
