/** `npm run fuzz`: see HELP. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keepCorpus, readCorpus } from "./corpus.ts";
import { page, type Row } from "./page.ts";
import { supervise } from "./supervise.ts";
import type { Target } from "./target.ts";

/** The target that takes any pack. */
const PACK_TARGET = "requests";

const HELP = `npm run fuzz -- [TARGET ...] [--runs N] [--seed N] [--keep] [--page FILE]

Throws neighbours of well-formed input at what reads input from outside, guided by which code they reach. Exit
code 1 at a crash or a hang, with the input printed as JSON. How far it is goes to stderr every half minute.

  --runs N     of each target; default 20000
  --seed N     default 1; another one goes another way
  --keep       keeps what reached new code, crashed or hung in fuzz/corpus, where later runs begin
  --page FILE  writes the table of results; rows of targets that did not run stay
  --mappings-dir DIR
               fuzzes requests to this pack (target ${PACK_TARGET}) in place of the one of the gateway, from its golden
               cases and from its routes; not with --keep and --page

npm run fuzz -- worst [--runs N] [--seed N] [--only TEXT] [--page FILE]

Looks for the most expensive request of each route, form and header, guided by time and bytes in place of coverage:
milliseconds of the event loop and megabytes allocated by a gateway in this process. Exit code 1 where one is above
what docs/results/inputs.md allows; rows of the admin listener don't count. Takes about four minutes of CPU.

  --runs N     inputs that are tried for each row after the listed shapes; default 10
  --only TEXT  only parts whose row and name contain the text
  --page FILE  writes the section of docs/results/inputs.md, and costs.tsv beside it
`;

if (process.argv[2] === "worst") {
  // With the flags of a gateway that serves (`npm start`).
  const flags = ["--disable-warning=ExperimentalWarning"];
  const script = join(import.meta.dirname, "worst/main.ts");
  const { status } = spawnSync(process.execPath, [...flags, script, ...process.argv.slice(3)], {
    stdio: "inherit",
  });
  process.exit(status ?? 1);
}

const FOLDER = join(import.meta.dirname, "targets");
const all = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -3));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
    page: { type: "string" },
    "mappings-dir": { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});

const mappings = values["mappings-dir"];
// The target reads it in its thread.
if (mappings !== undefined) process.env["MAPPINGS_DIR"] = mappings;

/** Fuzzes one target and prints the result. */
async function run(name: string): Promise<Row> {
  const module = join(FOLDER, `${name}.ts`);
  const { target } = (await import(module)) as { target: Target };
  // The inputs of the corpus are about the pack of the gateway.
  const corpus = mappings === undefined ? readCorpus(name) : [];
  const { runs, seed } = { runs: Number(values.runs), seed: Number(values.seed) };
  const outcome = await supervise(
    { module, runs, seed, corpus },
    {
      report: ({ runs: done, found }) =>
        process.stderr.write(`${name}: ${done} of ${runs} runs, ${found} new inputs\n`),
    },
  );
  const { crash, hang } = outcome;
  if (values.keep) {
    const ends = [crash?.input, hang].filter((input) => input !== undefined);
    keepCorpus(name, [...corpus, ...outcome.found, ...ends]);
  }
  const inputCount = new Set([...target.seeds, ...corpus, ...outcome.found]).size;
  process.stdout.write(
    `${name.padEnd(12)} ${outcome.runs} runs in ${outcome.seconds.toFixed(0)} s, ${inputCount} inputs in all\n`,
  );
  if (outcome.comparisons > 0) process.stdout.write(`  ${outcome.comparisons} comparisons\n`);
  if (crash) process.stdout.write(`  crash: ${JSON.stringify(crash.input)}\n${crash.error}\n`);
  if (hang !== undefined) process.stdout.write(`  hang: ${JSON.stringify(hang)}\n`);
  return { subject: target.subject, known: inputCount, ...outcome };
}

async function main(): Promise<number> {
  const targets = mappings === undefined ? all : [PACK_TARGET];
  const unknown = positionals.filter((name) => !targets.includes(name));
  if (
    values.help ||
    unknown.length > 0 ||
    (mappings !== undefined && (values.keep || values.page !== undefined)) ||
    !(Number(values.runs) > 0) ||
    !Number.isInteger(Number(values.seed))
  ) {
    process.stdout.write(`${HELP}\nTargets: ${all.join(", ")}\n`);
    return values.help ? 0 : 1;
  }
  // Each in a thread of its own: the slowest decides how long it takes.
  const rows = await Promise.all((positionals.length > 0 ? positionals : targets).map(run));
  if (values.page !== undefined) {
    const earlier = existsSync(values.page) ? readFileSync(values.page, "utf8") : "";
    writeFileSync(values.page, page(rows, earlier));
  }
  return rows.some(({ crash, hang }) => crash !== undefined || hang !== undefined) ? 1 : 0;
}

process.exitCode = await main();
