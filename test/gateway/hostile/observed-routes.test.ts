/** The routes of an API without a pack: what one client, or one stranger, can do to those of the others. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createGateway, type Gateway } from "../../../src/index.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { waitFor } from "../../support/wait-for.ts";

let old: FakeV4;
let gateway: Gateway;
let folder: string;
let warnings: Record<string, unknown>[];

beforeEach(async () => {
  warnings = [];
  folder = temporaryFolder();
  const ignore = (): void => {};
  const warn = (line: object): void => void warnings.push({ ...line });
  old = await startFakeV4();
  old.respondWith(json(200, {}));
  gateway = createGateway({
    legacyUrl: old.url,
    port: 0,
    adminPort: 0,
    audit: "metadata",
    dataDir: folder,
    trustProxy: "127.0.0.1",
    logger: { debug: ignore, info: ignore, warn, error: ignore, fatal: ignore, isLevelEnabled: () => false },
  });
  await gateway.start();
});
afterEach(async () => {
  await gateway.stop();
});

/** A word of letters for each number, so that its path is a route of its own. */
const word = (n: number): string =>
  n.toString(26).replaceAll(/./g, (digit) => String.fromCharCode(97 + parseInt(digit, 26)));

async function send(from: number, to: number, address: string, tokenOf: (n: number) => string | undefined) {
  const numbers = Array.from({ length: to - from }, (_, n) => from + n);
  const sendOne = async (n: number): Promise<void> => {
    const token = tokenOf(n);
    const headers = { "x-forwarded-for": address, ...(token && { authorization: `Bearer ${token}` }) };
    await (
      await fetch(`${gateway.url}/${address.startsWith("198") ? "quiet" : "loud"}/${word(n)}`, { headers })
    ).text();
  };
  while (numbers.length > 0) await Promise.all(numbers.splice(0, 20).map(sendOne));
}

/** The values of a metric, by their labels. */
async function metric(name: string): Promise<[labels: string, value: number][]> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^alpha_gateway_${name}(?:\\{(.*)\\})? (\\d+)$`, "gm"))].map(
    ([, labels = "", value]) => [labels, Number(value)],
  );
}
const valueOf = async (name: string): Promise<number> => (await metric(name))[0]?.[1] ?? -1;
const countRequests = async (): Promise<number> =>
  (await metric("requests_total")).reduce((sum, [, value]) => sum + value, 0);

test.each([
  ["a client", () => "one-client-token", 250, "client"],
  ["a stranger without a token", () => undefined, 250, "client"],
  ["a stranger with made-up tokens", (n: number) => `made-up-token-${n}`, 500, "network"],
])(
  "as the paths of %s grow a hundredfold, its routes stay within its share, and others get theirs",
  async (_, tokenOf, share, who) => {
    await send(0, 8, "192.0.2.1", tokenOf);
    await waitFor(async () => (await valueOf("observed_routes")) === 8);
    const labels = (await metric("requests_total")).length;
    await send(8, 800, "192.0.2.1", tokenOf);
    await waitFor(async () => (await countRequests()) === 800);
    expect(await valueOf("observed_routes")).toBe(share);
    expect(await valueOf("observed_routes_refused_total")).toBe(800 - share);
    expect(await metric("requests_total")).toHaveLength(labels);
    const full = warnings.filter(({ code }) => code === "AG_OBSERVED_ROUTES_FULL");
    expect(full).toEqual([expect.objectContaining({ share: who })]);

    await send(0, 100, "198.51.100.1", () => "quiet-client-token");
    await waitFor(async () => (await valueOf("observed_routes")) === share + 100);
    expect(await valueOf("observed_routes_refused_total")).toBe(800 - share);
  },
);
