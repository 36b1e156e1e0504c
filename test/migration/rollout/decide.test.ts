/** Which side the rules of a file give to a client. */
import { describe, expect, test } from "@jest/globals";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { lastingName } from "../../../src/audit/clients/client-name.ts";
import { decideByRules } from "../../../src/migration/rollout/decide.ts";
import { rolloutFile } from "../../../src/migration/rollout/file.ts";
import type { RolloutConfig } from "../../../src/migration/rollout/rules.ts";

const NAMES = Array.from({ length: 1000 }, (_, index) => `client-${index}`);

const DIRECTORY = parseOperatorFile(
  {
    file: "clients.yaml",
    text: [
      ...NAMES.map((name) => `${name}: {}`),
      "billing: { tokens: [0123456789abcdef], applications: [app-1], user_agents: [billing-sync/*] }",
    ]
      .slice(1)
      .join("\n"),
  },
  CLIENTS_FILE,
);

const read = (text: string): RolloutConfig =>
  parseOperatorFile(
    { file: "rollout.yaml", text: `data: shared\n${text}` },
    rolloutFile(() => ({ routes: ["GET /books", "POST /books"], directory: DIRECTORY })),
  );

const turned = (text: string): readonly string[] => {
  const config = read(text);
  return NAMES.filter((name) => decideByRules(config, name, "GET /books").side === "new");
};

describe("a share of the clients", () => {
  test("has 70 to 130 of 1000 clients at 10%, and the same ones when the file is read again", () => {
    for (const salt of ["a", "b", "c", "2026-11"]) {
      const clients = turned(`new: [{ share: 10% }]\nsalt: ${salt}`);
      expect(clients.length).toBeGreaterThanOrEqual(70);
      expect(clients.length).toBeLessThanOrEqual(130);
      expect(turned(`new: [{ share: 10% }]\nsalt: ${salt}`)).toEqual(clients);
    }
  });

  test("keeps all of its clients as it grows from 10 to 20 to 100%", () => {
    const [ten, twenty, all] = ["10%", "20%", "100%"].map((share) => turned(`new: [{ share: ${share} }]`));
    expect(twenty).toEqual(expect.arrayContaining([...(ten ?? [])]));
    expect(twenty?.length).toBeGreaterThan(ten?.length ?? 0);
    expect(all).toEqual(NAMES);
  });

  test("has other clients with another salt", () => {
    expect(turned("new: [{ share: 10% }]\nsalt: one")).not.toEqual(
      turned("new: [{ share: 10% }]\nsalt: two"),
    );
  });

  test("of 0% selects no client", () => {
    expect(turned("new: [{ share: 0% }]")).toEqual([]);
  });

  test("never includes a request without a client", () => {
    expect(decideByRules(read("new: [{ share: 100% }]"), undefined, "GET /books")).toEqual({
      side: "old",
      why: "the client is unknown",
    });
  });
});

describe("rules", () => {
  const config = read(`waves: { first: [billing] }
new:
  - waves: [first]
  - clients: [client-7]
    routes: [GET /books]`);

  test.each([
    ["billing", "GET /books", { side: "new", why: "wave first" }],
    ["billing", "POST /books", { side: "new", why: "wave first" }],
    ["billing", null, { side: "new", why: "wave first" }],
    ["client-7", "GET /books", { side: "new", why: "named in the file" }],
    ["client-7", "POST /books", { side: "old", why: "no rule matches" }],
    ["client-7", null, { side: "old", why: "no rule matches" }],
    ["client-8", "GET /books", { side: "old", why: "no rule matches" }],
    [undefined, "GET /books", { side: "old", why: "the client is unknown" }],
  ] as const)("give %s on %s a side, and say why", (client, route, decision) => {
    expect(decideByRules(config, client, route)).toEqual(decision);
  });

  test("new: all selects every request, even without a client", () => {
    expect(decideByRules(read("new: all"), undefined, null)).toEqual({ side: "new", why: "all clients" });
  });

  test("with only routes select all clients on these routes", () => {
    const byRoute = read("new: [{ routes: [GET /books] }]");
    expect(decideByRules(byRoute, undefined, "GET /books").side).toBe("new");
    expect(decideByRules(byRoute, "billing", "POST /books").side).toBe("old");
  });
});

describe("the client of a request", () => {
  test.each([
    [{ fingerprint: "0123456789abcdef" }, "billing"],
    [{ application: "app-1" }, "billing"],
    [{ userAgent: "billing-sync/2" }, "billing"],
    [{ label: "billing" }, "billing"],
    [{ application: "app-2", fingerprint: "ffff456789abcdef" }, "application:app-2"],
    [{ fingerprint: "ffff456789abcdef", userAgent: "curl/8" }, undefined],
    [{}, undefined],
  ])("of %j is %s", (identity, client) => {
    expect(lastingName(DIRECTORY, identity)).toBe(client);
  });
});
