import { createReadStream, statSync } from "node:fs";
import { parseArgs } from "node:util";
import { exportTexts } from "../audit/export/export.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { AuditQuery } from "../audit/store.ts";
import { readAuditQuery } from "../admin/audit-query.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import type { ReplayDifference } from "../tools/replay/differences.ts";
import { isAskedFor, readRecords } from "../tools/replay/read-records.ts";
import { replayUnder } from "../tools/replay/replay-record.ts";
import { createReplaySummary, type ReplaySummary } from "../tools/replay/summary.ts";
import { openExistingAuditStore } from "../app/audit-store.ts";
import { packFolder } from "../app/pack-folder.ts";
import { showProgress } from "./progress.ts";
import { STORE_FLAGS, storeSettings } from "./store-flags.ts";
import { throwUsageErrors } from "./usage-error.ts";

const HELP = `alpha-gateway replay --from FILE|DIR|postgres://... [--pack DIR] [--client FINGERPRINT] [--route 'GET /path']
                     [--status N] [--since MOMENT] [--until MOMENT]

Runs recorded requests again under a pack (default: that of MAPPINGS_DIR), over the answers of v4 that were recorded
with them, and prints what would change: calls to v4, statuses, fields of answers. Nothing is sent.

  --from  an export of the audit (NDJSON), "-" for standard input, a data folder, or the address of an audit store

The first record of each kind of change is shown. Objects out of catalogs are compared by their ids. Ends with 0
where nothing changes, or with 1.
`;

interface Source {
  /** How many records there are, where that is known. */
  readonly count: number | undefined;
  readonly chunks: AsyncIterable<string>;
  readonly close: () => Promise<void>;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

async function openSource(from: string, query: AuditQuery): Promise<Source> {
  const isStore = /^postgres(ql)?:\/\//.test(from);
  if (!isStore && !isFolder(from)) {
    const stream = from === "-" ? process.stdin : createReadStream(from);
    const chunks = stream.setEncoding("utf8") as AsyncIterable<string>;
    return { count: undefined, chunks, close: async () => void stream.destroy() };
  }
  const store = await openExistingAuditStore({ DATA_DIR: from, DATABASE_URL: isStore ? from : undefined });
  return {
    count: await store.count(query),
    chunks: exportTexts(store, { format: "ndjson", query, filterHeader: undefined }),
    close: store.close,
  };
}

const line = ({ what, was, is }: ReplayDifference): string =>
  `  ${what}: ${was ?? "nothing"} -> ${is ?? "nothing"}\n`;

/** Differences of one record that are shown. */
const MOST_SHOWN = 20;

function shown({ id, time, alpha }: AuditRecord, differences: readonly ReplayDifference[]): string {
  const query = alpha.query === "" ? "" : `?${alpha.query}`;
  const more = differences.length - MOST_SHOWN;
  return [
    `${time} ${id} ${alpha.method} ${alpha.path}${query}\n`,
    ...differences.slice(0, MOST_SHOWN).map(line),
    ...(more > 0 ? [`  and ${more} more\n`] : []),
    "\n",
  ].join("");
}

function summary(tally: ReplaySummary): string {
  const { same, changed, untold } = tally;
  const counted = (counts: readonly (readonly [string, number])[]): string =>
    counts.map(([what, times]) => `  ${times} ${what}\n`).join("");
  return (
    `${same} the same, ${changed} changed, ${untold} can't be told\n` +
    (changed > 0 ? `changed:\n${counted(tally.kinds())}` : "") +
    (untold > 0 ? `can't be told:\n${counted(tally.reasons())}` : "")
  );
}

function readQuery(values: Readonly<Record<string, string | boolean | undefined>>): AuditQuery {
  const { client, route, status, since, until } = values;
  const given = Object.entries({ client, route, status, since, until });
  const { query, problems } = readAuditQuery(
    Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  );
  throwUsageErrors(problems);
  return query;
}

/** `alpha-gateway replay`: the exit code. */
export async function replay(args: readonly string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { words } = STORE_FLAGS;
  const options = {
    from: text,
    pack: text,
    client: text,
    route: text,
    status: text,
    since: text,
    until: text,
    words,
    help: { type: "boolean", short: "h" },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help || values.from === undefined) {
    process.stdout.write(HELP);
    return values.help ? 0 : 1;
  }
  const query = readQuery(values);
  const { MAPPINGS_DIR, WORDS } = storeSettings({ words: values.words });
  const today = replayUnder(loadPack(packFolder(MAPPINGS_DIR), WORDS));
  const run =
    values.pack === undefined ? today : replayUnder(loadPack(packFolder(values.pack), WORDS), today);
  const { count, chunks, close } = await openSource(values.from, query);
  const tally = createReplaySummary();
  const progress = showProgress("records");
  let done = 0;
  try {
    for await (const record of readRecords(chunks)) {
      progress((done += 1), count);
      if (!isAskedFor(record, query)) continue;
      const verdict = await run(record);
      if (tally.add(record, verdict) && verdict.kind === "changed")
        process.stdout.write(shown(record, verdict.differences));
    }
  } finally {
    progress.end();
    await close();
  }
  process.stdout.write(summary(tally));
  return tally.changed > 0 ? 1 : 0;
}
