import { parseArgs } from "node:util";
import { readUsageQuery } from "../admin/audit-query.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import { FORMATS, isReportFormat, REPORT_FORMATS } from "../tools/migration-report/formats.ts";
import { createReport } from "../tools/migration-report/make-report.ts";
import { openExistingAuditStore } from "../app/audit-store.ts";
import { packFolder } from "../app/pack-folder.ts";
import { showProgress } from "./progress.ts";
import { STORE_FLAGS, storeSettings } from "./store-flags.ts";
import { throwUsageErrors, UsageError } from "./usage-error.ts";

const HELP = `alpha-gateway report [--format md|html|json|csv] [--client FINGERPRINT] [--since DAY] [--until DAY]

Prints the migration report, out of the audit store: who still speaks alpha, and for each client a guide made from
its own calls. Days are whole ones, in UTC; --client none are requests without a token.

The store is that of the gateway: --data-dir or DATA_DIR (./data), --database-url or DATABASE_URL.
The pack is that of MAPPINGS_DIR, in the service's WORDS.

  alpha-gateway report --format html > report.html
`;

/** `alpha-gateway report`: the exit code. */
export async function report(args: readonly string[]): Promise<number> {
  const options = {
    format: { type: "string", default: "md" },
    client: { type: "string" },
    since: { type: "string" },
    until: { type: "string" },
    help: { type: "boolean", short: "h" },
    ...STORE_FLAGS,
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { format, help, client, since, until } = values;
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!isReportFormat(format)) throw new UsageError(`--format: there are ${REPORT_FORMATS.join(", ")}`);
  const { query, problems } = readUsageQuery({
    client: client ?? "",
    since: since ?? "",
    until: until ?? "",
  });
  throwUsageErrors(problems);
  const settings = storeSettings(values);
  const pack = loadPack(packFolder(settings.MAPPINGS_DIR), settings.WORDS);
  const store = await openExistingAuditStore(settings);
  const progress = showProgress("calls");
  try {
    const made = await createReport({ store, pack, query, now: Date.now(), onProgress: progress });
    process.stdout.write(FORMATS[format].write(made));
  } finally {
    progress.end();
    await store.close();
  }
  return 0;
}
