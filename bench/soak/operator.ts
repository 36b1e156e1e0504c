import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Tally } from "./run-operations.ts";
import type { SoakEnvironment } from "./environment.ts";

const SCRAPE_MS = 1000;

/** Rows from one reload to the next: a reload delays all requests, and so raises the p99 of its row. */
export const ROWS_BETWEEN_RELOADS = 5;

/** What an export is narrowed to, so that it is as large at the end of a run as at its beginning. */
const EXPORTED_MS = 5000;
const EXPORT_LONGEST_MS = 60_000;
const RELOAD_LONGEST_MS = 20_000;

export interface Operator {
  readonly exports: () => number;
  readonly reloads: () => number;
  stop(): Promise<void>;
}

/**
 * Scrapes the figures each second, exports the latest of the audit once a row, and now and then changes the pack.
 *
 * @param everyMs of a row
 */
export function operate(
  { gateway, adminUrl, pack }: SoakEnvironment,
  everyMs: number,
  tally: Tally,
): Operator {
  const stopped = new AbortController();
  let [exports, reloads] = [0, 0];

  async function scrape(): Promise<(name: string) => number> {
    const response = await fetch(`${adminUrl}/metrics`);
    const text = await response.text();
    const figure = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
    const dropped = figure("alpha_gateway_audit_dropped_total");
    if (!(response.ok && dropped === 0))
      throw new Error(`${response.status}, ${dropped} audit records dropped`);
    return figure;
  }

  const since = async (): Promise<number> => (await scrape())("alpha_gateway_pack_in_use_since_seconds");

  /** @throws {Error} if the changed pack is not in use in time */
  async function reload(): Promise<void> {
    const before = await since();
    await appendFile(join(pack, "pack.yaml"), `# Changed for the ${reloads + 1}. time.\n`);
    process.kill(gateway.pid, "SIGHUP");
    const deadline = performance.now() + RELOAD_LONGEST_MS;
    while ((await since()) === before) {
      if (performance.now() > deadline) throw new Error("the changed pack is not in use");
      await wait(SCRAPE_MS);
    }
    reloads += 1;
  }

  /** @throws {Error} if it is incomplete or empty */
  async function exportAudit(): Promise<void> {
    const begin = new Date(Date.now() - EXPORTED_MS).toISOString();
    const response = await fetch(`${adminUrl}/api/audit/export?format=ndjson&since=${begin}`, {
      signal: AbortSignal.timeout(EXPORT_LONGEST_MS),
    });
    const lines = (await response.text()).trimEnd().split("\n");
    if (!response.ok || !("id" in (JSON.parse(lines.at(-1) ?? "") as object)))
      throw new Error(`got ${response.status} and ${lines.length} lines`);
    exports += 1;
  }

  /** Repeats an operation until the run is stopped, and counts failures. */
  async function repeat(what: string, pauseMs: number, once: () => Promise<unknown>): Promise<void> {
    for (;;) {
      await wait(pauseMs, undefined, { signal: stopped.signal }).catch(() => {});
      if (stopped.signal.aborted) return;
      await once().catch((error: unknown) => tally.fail(what, error));
    }
  }

  const doing = [
    repeat("a scrape", SCRAPE_MS, scrape),
    repeat("a reload of the pack", everyMs * ROWS_BETWEEN_RELOADS, reload),
    repeat("an export of the audit", everyMs, exportAudit),
  ];
  return {
    exports: () => exports,
    reloads: () => reloads,
    async stop() {
      stopped.abort();
      await Promise.all(doing);
    },
  };
}
