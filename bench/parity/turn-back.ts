/** Part 5: several gateways with one Redis, whose pack has a mistake, and clients that see when a route returns. */
import { setTimeout as wait } from "node:timers/promises";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FAULTS } from "./faults.ts";

/** A gateway that listens. */
export interface Address {
  readonly url: string;
  readonly admin: string;
}

/** All clients get the translation, and all that they read is compared. */
export const ROLLOUT =
  "data: shared\nnew: all\ncompare: { share: 100%, per_second: 500, client_share: 100% }\n";

const ROUTE = "GET /vm/instances";
const PATH = "/v4/vm/instances";
/** Its mistake says "up" for "running". */
const MISTAKE = "wrong word: running";
/** A list without a row: both services say the same, so that the old one becomes known. */
const NOTHING = JSON.stringify({ label: "no instance has this label" });
const WARM_UP_REQUESTS = 30;
/** Milliseconds between two requests to one gateway. */
const BETWEEN_MS = 700;
const LOOK_MS = 20;

/** Writes a copy of the product's pack with a mistake into a folder. */
export function writeMistakenPack(folder: string): void {
  cpSync("mappings", folder, { recursive: true });
  const fault = FAULTS.find(({ name }) => name === MISTAKE);
  if (!fault) throw new Error(`there is no mistake "${MISTAKE}"`);
  const file = join(folder, fault.file);
  writeFileSync(
    file,
    readFileSync(file, "utf8").replaceAll(fault.find, () => fault.replace),
  );
}

/** The side that answered a request, or that the request failed. */
export type Seen = "old" | "new" | "failed";

/** Asks a gateway for the list in which the mistake shows. Never rejects. */
export async function ask({ url }: Address, authorization: string, query = ""): Promise<Seen> {
  try {
    const response = await fetch(`${url}${PATH}${query}`, { headers: { authorization } });
    const { vms } = (await response.json()) as { readonly vms: readonly { readonly status: string }[] };
    if (response.status !== 200) return "failed";
    return vms.some(({ status }) => status === "up") ? "new" : "old";
  } catch {
    return "failed";
  }
}

/** Confirmed differences of a gateway. */
async function countDifferences({ admin }: Address): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.includes("comparisons_total{"));
  const line = lines.find((each) => each.includes(`route="${ROUTE}"`) && each.includes('result="different"'));
  return Number(line?.split(" ").at(-1) ?? 0);
}

/** Compares equal answers on each gateway, until differences are believed. */
export async function warmUp(gateways: readonly Address[], authorization: string): Promise<void> {
  const headers = { authorization, "x-filter": NOTHING };
  for (const { url, admin } of gateways) {
    for (let count = 0; count < WARM_UP_REQUESTS; count += 1)
      await (await fetch(`${url}${PATH}`, { headers })).arrayBuffer();
    while (
      !/comparisons_total\{[^}]*result="equal"[^}]*\} (?:[3-9]\d|\d{3,})$/m.test(
        await (await fetch(`${admin}/metrics`)).text(),
      )
    )
      await wait(LOOK_MS);
  }
}

/** What was seen until the route had returned on all gateways. */
export interface ReturnSeen {
  /** Confirmed differences of each gateway when there were four together. */
  readonly differences: readonly number[];
  /** Milliseconds from the fourth confirmed difference to the first answer of the old service, for each gateway. */
  readonly ms: readonly number[];
  readonly requests: number;
  readonly failed: number;
}

/** Sends requests to all gateways until the old service answers on each of them. */
export async function watchReturn(gateways: readonly Address[], authorization: string): Promise<ReturnSeen> {
  const end = new AbortController();
  const returned = gateways.map((): number | undefined => undefined);
  let [requests, failed, confirmedAt] = [0, 0, 0];
  let differences: readonly number[] = [];

  async function send(gateway: Address, index: number): Promise<void> {
    await wait((index * BETWEEN_MS) / gateways.length);
    for (let count = 0; !end.signal.aborted; count += 1) {
      const isDue = count % Math.round(BETWEEN_MS / LOOK_MS) === 0 || confirmedAt > 0;
      if (isDue) {
        const seen = await ask(gateway, authorization, `?n=${count}`);
        requests += 1;
        if (seen === "failed") failed += 1;
        if (seen === "old") returned[index] ??= performance.now();
      }
      await wait(LOOK_MS);
    }
  }
  async function look(): Promise<void> {
    for (;;) {
      const counts = await Promise.all(gateways.map(countDifferences));
      if (counts.reduce((sum, count) => sum + count, 0) >= 4) {
        confirmedAt = performance.now();
        differences = counts;
        return;
      }
      await wait(LOOK_MS);
    }
  }
  const senders = gateways.map(send);
  await look();
  while (returned.includes(undefined)) await wait(LOOK_MS);
  end.abort();
  await Promise.all(senders);
  return { differences, ms: returned.map((at = 0) => Math.max(0, at - confirmedAt)), requests, failed };
}
