#!/usr/bin/env node
import { AuditUnavailable } from "./audit/store.ts";
import { UsageError } from "./cli/usage-error.ts";
import { InvalidExportError } from "./tools/replay/no-export.ts";
import { PackError } from "./mapping/load/diagnostic.ts";
import { SettingsError } from "./config/settings.ts";
import { StateUnavailableError } from "./storage/key-value-store.ts";

type Verb = (args: readonly string[]) => Promise<number>;

/** A verb is loaded when it is asked for: a gateway before a real service never holds the sandbox in memory. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  serve: async () => (await import("./cli/serve.ts")).serve,
  check: async () => (await import("./cli/check.ts")).check,
  explain: async () => (await import("./cli/explain.ts")).explain,
  openapi: async () => (await import("./cli/openapi.ts")).openapi,
  report: async () => (await import("./cli/report.ts")).report,
  export: async () => (await import("./cli/export.ts")).exportRecords,
  replay: async () => (await import("./cli/replay.ts")).replay,
  sandbox: async () => (await import("./cli/sandbox.ts")).sandbox,
};

const HELP = `alpha-gateway VERB

  serve              Runs the gateway (serve --help lists the settings)
  check [DIR]        Checks a mapping pack, runs its examples, prints what it covers
  explain 'METHOD /path' [-H 'Name: value'] [-d '{...}']
                     Prints the v4 calls that an alpha call becomes, and sends nothing
  openapi [DIR]      Prints an OpenAPI 3.1 description of the interface that clients see
  report             Prints the migration report: who still speaks alpha, and what each has to change
  export             Prints what was recorded, as NDJSON, CSV or HAR
  replay --from FILE|DIR [--pack DIR]
                     Runs recorded requests again under a pack, and prints what would change
  sandbox            Runs the v4 sandbox alone
`;

/** Faults that a person can mend are told in their own words, without a stack. */
const isPlain = (error: unknown): error is Error =>
  [UsageError, InvalidExportError, PackError, SettingsError, AuditUnavailable, StateUnavailableError].some(
    (kind) => error instanceof kind,
  ) ||
  (error instanceof Error && "code" in error && typeof error.code === "string");

async function main([verb = "--help", ...args]: readonly string[]): Promise<number> {
  if (verb === "--help" || verb === "-h" || verb === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  const load = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  if (!load) throw new UsageError(`There is no verb "${verb}".\n\n${HELP}`);
  return (await load())(args);
}

/** What a program ends with whose reader went away, as shells tell it: 128 and the number of SIGPIPE. */
const READER_GONE = 141;

/** A reader such as `head` has seen enough. What serves goes on; whatever prints has nobody to print for. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (process.argv[2] !== "serve" && process.argv[2] !== "sandbox") process.exit(READER_GONE);
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${isPlain(error) ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
