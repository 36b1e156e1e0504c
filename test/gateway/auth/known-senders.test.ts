/** Who is a client, and who a stranger. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  createKnownSenders,
  type KnownSenders,
  type Sender,
} from "../../../src/gateway/auth/known-senders.ts";
import {
  AcceptedTokens,
  createTokenCache,
  type MemoryTokenCache,
} from "../../../src/gateway/auth/token-cache.ts";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { ProvenClients } from "../../../src/gateway/auth/proven-by.ts";

const FINGERPRINT = "0123456789abcdef";
const DIRECTORY = parseOperatorFile(
  {
    file: "clients.yaml",
    text: `billing: { tokens: [${FINGERPRINT}], applications: [app-1], user_agents: [billing/*] }`,
  },
  CLIENTS_FILE,
);
const ROUTE = { access: "token" } as const;

let tokens: MemoryTokenCache;
let senders: KnownSenders;
beforeEach(() => {
  tokens = createTokenCache({ size: 10, ttlSeconds: 60, negativeTtlSeconds: 60 });
  senders = create({ client: {} });
});

const create = (credentials: object, areAddressesShared = false): KnownSenders =>
  createKnownSenders({
    pack: { credentials } as unknown as Pack,
    directory: () => DIRECTORY,
    tokens,
    upstreamTokens: { find: (hash) => (hash === "in the table" ? ({} as never) : undefined) },
    ofOldService: new AcceptedTokens(),
    areAddressesShared,
  });

const sender = (hash: string | undefined, identity: Sender["identity"] = {}): Sender => ({ hash, identity });

describe("a sender is known", () => {
  test.each<[string, Sender]>([
    ["by the name that a trusted proxy gave", sender(undefined, { label: "billing" })],
    ["by the fingerprint of its token", sender("a", { fingerprint: FINGERPRINT })],
    ["by the application of its token", sender("a", { application: "app-1" })],
    ["by its token in the table of tokens", sender("in the table")],
  ])("%s", (_how, given) => {
    expect(senders.knownAs(given)).toBeDefined();
  });

  test("once v4 has accepted its token, until it rejects it", () => {
    expect(senders.knownAs(sender("a"))).toBeUndefined();
    tokens.setScopes("a", undefined);
    expect(senders.knownAs(sender("a"))).toBeDefined();
    tokens.setRejected("a");
    expect(senders.knownAs(sender("a"))).toBeUndefined();
  });

  test("once the old service has accepted its token, until it rejects it", () => {
    senders.noteOldAnswer(sender("a"), ROUTE, 200);
    expect([senders.knownAs(sender("a")), senders.knownAs(sender("b"))]).toEqual(["a", undefined]);
    senders.noteOldAnswer(sender("a"), ROUTE, 401);
    expect(senders.knownAs(sender("a"))).toBeUndefined();
  });

  test("by an application that has no name, however many tokens it has", () => {
    const identity = { application: "app-2" };
    expect(senders.knownAs(sender("a", identity))).toBe("application:app-2");
    expect(senders.knownAs(sender("b", identity))).toBe("application:app-2");
  });

  test("where clients need no credentials", () => {
    expect(create({}).knownAs(sender(undefined))).toBeDefined();
  });
});

describe("a sender is a stranger", () => {
  test.each<[string, Sender]>([
    ["that only has the user agent of a client", sender("a", { userAgent: "billing/1" })],
    ["without a token", sender(undefined)],
  ])("%s", (_who, given) => {
    expect(senders.knownAs(given)).toBeUndefined();
  });

  test.each<[string, Parameters<KnownSenders["noteOldAnswer"]>[1], number]>([
    ["a public route", { access: "public" }, 200],
    ["a path that the pack has no route for", undefined, 200],
    ["a route that needs a token, with an error", ROUTE, 404],
  ])("though the old service has answered it on %s", (_where, route, status) => {
    senders.noteOldAnswer(sender("a"), route, status);
    expect(senders.knownAs(sender("a"))).toBeUndefined();
  });
});

/** Counts the clients of accepted tokens, each with its address. */
function countClients(areAddressesShared: boolean, tokensAndAddresses: readonly [string, string][]): number {
  const known = create({ client: {} }, areAddressesShared);
  const clients = new ProvenClients();
  for (const [token, address] of tokensAndAddresses) {
    tokens.setScopes(token, undefined);
    const by = known.provenBy(sender(token), address) ?? "";
    if (clients.find(by) === undefined) clients.add(by);
  }
  return clients.size;
}

describe("from the first request on", () => {
  const OF_ONE_ADDRESS = ["a", "b", "c"].map((token): [string, string] => [token, "203.0.113.1"]);

  test("tokens of one address are one client, where addresses are those of clients", () => {
    expect(countClients(false, OF_ONE_ADDRESS)).toBe(1);
  });

  test("tokens are clients where addresses may be those of a proxy", () => {
    expect(countClients(true, OF_ONE_ADDRESS)).toBe(3);
  });

  test.each([false, true])("a token with many addresses is one client", (areAddressesShared) => {
    const addresses = [1, 2, 3].map((n): [string, string] => ["a", `203.0.113.${n}`]);
    expect(countClients(areAddressesShared, addresses)).toBe(1);
  });
});
