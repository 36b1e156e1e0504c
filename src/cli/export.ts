import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { EXPORT_FORMATS, exportTexts, isExportFormat } from "../audit/export/export.ts";
import { readAuditQuery } from "../admin/audit-query.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import { openExistingAuditStore } from "../app/audit-store.ts";
import { packFolder } from "../app/pack-folder.ts";
import { showProgress } from "./progress.ts";
import { STORE_FLAGS, storeSettings } from "./store-flags.ts";
import { throwUsageErrors, UsageError } from "./usage-error.ts";

const HELP = `alpha-gateway export [--format ndjson|csv|har] [--client FINGERPRINT] [--route 'GET /path'] [--status N]
                     [--since MOMENT] [--until MOMENT]

Prints what the audit store has recorded, the newest first, narrowed as GET /api/audit is. What comes in meanwhile
is not part of it.

The store is that of the gateway: --data-dir or DATA_DIR (./data), --database-url or DATABASE_URL.
The pack is that of MAPPINGS_DIR, in the service's WORDS: an archive in HAR shows its filter header.

  alpha-gateway export --format csv --since 2026-01-31 > calls.csv
`;

/** `alpha-gateway export`: the exit code. One page of records is in memory at a time. */
export async function exportRecords(args: readonly string[]): Promise<number> {
  const options = {
    format: { type: "string", default: "ndjson" },
    client: { type: "string" },
    route: { type: "string" },
    status: { type: "string" },
    since: { type: "string" },
    until: { type: "string" },
    help: { type: "boolean", short: "h" },
    ...STORE_FLAGS,
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { format, help, client, route, status, since, until } = values;
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!isExportFormat(format)) throw new UsageError(`--format: there are ${EXPORT_FORMATS.join(", ")}`);
  const { query, problems } = readAuditQuery(
    JSON.parse(JSON.stringify({ client, route, status, since, until })) as Record<string, string>,
  );
  throwUsageErrors(problems);
  const settings = storeSettings(values);
  const filterHeader = loadPack(packFolder(settings.MAPPINGS_DIR), settings.WORDS).dialect.filter.header;
  const store = await openExistingAuditStore(settings);
  const progress = showProgress("records");
  try {
    const all = await store.count(query);
    const onRecords = (done: number): void => progress(done, all);
    const texts = exportTexts(store, { format, query, filterHeader, onRecords });
    await pipeline(Readable.from(texts), process.stdout, { end: false });
  } finally {
    progress.end();
    await store.close();
  }
  return 0;
}
