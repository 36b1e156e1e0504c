/**
 * The parts of `docs/reference/` that come from the code: settings, flags of commands and metrics. `npm run docs` writes
 * them, between comments that name them, and `reference.test.ts` compares them.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { createCommandLine } from "../../src/app/cli/program.ts";
import { SETTING_SECTIONS, SETTINGS } from "../../src/base/settings/setting-definitions.ts";
import { createGateway } from "../../src/index.ts";

/** The pages with generated parts. */
export const PAGES = ["settings", "cli", "metrics"].map((name) => `docs/reference/${name}.md`);

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `|${row.join("|")}|`).join("\n");

function settingsTable(section: string): string {
  const settings = SETTING_SECTIONS[section] ?? [];
  return table(
    ["Name", "Default", "Meaning"],
    settings.map((name) => {
      const { default: value, meaning } = SETTINGS[name];
      return [`\`${name}\``, value === undefined ? "unset" : `\`${value}\``, meaning];
    }),
  );
}

/** A text of the help in Markdown. */
const prose = (text: string): string =>
  text.replaceAll("|", "\\|").replaceAll(/--[a-z][a-z-]*|\b[A-Z]+_[A-Z_]+\b/g, "`$&`");

const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;

/** What a flag is for, with its values and its default. */
function meaningOf({ description, argChoices, defaultValue }: Option): string {
  const values = argChoices === undefined ? "" : `: ${argChoices.map(code).join(", ")}`;
  const standard = defaultValue === undefined ? "" : ` (default: ${code(String(defaultValue))})`;
  return prose(description) + values + standard;
}

const { commands } = await createCommandLine(() => {});

const isSetting = ({ envVar }: Option): boolean => envVar !== undefined;

/** The flags of a command that are those of `export` too: the page has them there. */
function sharedFlags(command: Command): readonly Option[] {
  const records = commands.find((each) => each.name() === "export")?.options ?? [];
  if (command.name() === "export") return [];
  return command.options.filter((option) =>
    records.some(
      (each) => each.flags === option.flags && each.description === option.description && !isSetting(each),
    ),
  );
}

const names = (options: readonly Option[]): string => options.map(({ long }) => code(long ?? "")).join(", ");

/** Whether a flag only chooses between text and JSON. It is part of the usage of its command. */
const choosesJson = ({ long, argChoices, defaultValue }: Option): boolean =>
  long === "--format" && argChoices?.join() === "text,json" && defaultValue === "text";

/** A command with its flags and its subcommands, as its `--help` has them. The page leaves out the settings that are flags too. */
function commandPart(command: Command, path: string): string {
  const shared = sharedFlags(command);
  const own = command.options.filter(
    (option) => !isSetting(option) && !shared.includes(option) && !choosesJson(option),
  );
  const usage = [
    ...command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`)),
    ...(command.options.some(choosesJson) ? ["[--format json]"] : []),
  ];
  const lines = [
    ...command.registeredArguments.map((each) => `- ${code(each.name())}: ${prose(each.description)}`),
    ...own.map((option) => `- ${code(option.flags)}: ${meaningOf(option)}`),
    ...(shared.length > 0 ? [`- ${names(shared)}: as for [\`export\`](#export)`] : []),
  ];
  return [
    `**\`${[path, ...usage].join(" ")}\`** ${prose(command.description())}`,
    ...(lines.length > 0 ? [lines.join("\n")] : []),
    ...command.commands.map((each) => commandPart(each, `${path} ${each.name()}`)),
  ].join("\n\n");
}

/** The text of `GET /metrics` of a gateway with every feature. */
async function readMetrics(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "metrics-"));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const gateway = createGateway({
    sandbox: true,
    port: 0,
    adminPort: "off",
    logLevel: "silent",
    dataDir: join(folder, "data"),
    legacyUrl: "http://127.0.0.1:1",
    candidateMappingsDir: "mappings",
    auditOtlp: "http://127.0.0.1:1",
    clientsFile: file("clients.yaml", "{}"),
    sunsetFile: file("sunset.yaml", "announced: 2026-01-01"),
    rolloutFile: file("rollout.yaml", "data: shared"),
    noticesFile: file("notices.yaml", "receivers: {}"),
  });
  try {
    await gateway.start();
    return await gateway.metrics();
  } finally {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The metrics of the gateway. Those of the process have the names that other programs give them. */
async function metricsTable(): Promise<string> {
  const text = await readMetrics();
  const metrics = new Map(
    [...text.matchAll(/^# HELP (alpha_gateway_\w+) (.*)\n# TYPE \w+ (\w+)$/gm)].map(
      ([, name = "", help = "", type = ""]) => [name, [code(name), type, prose(help)]],
    ),
  );
  const rows = [...metrics].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return table(
    ["Metric", "Type", "Meaning"],
    rows.map(([, row]) => row),
  );
}

/** What a comment of a page names: `settings Listeners`, `command check` or `metrics`. */
async function partOf(name: string): Promise<string> {
  const [kind = "", ...rest] = name.split(" ");
  const of = rest.join(" ");
  const command = commands.find((each) => each.name() === of);
  if (kind === "settings" && Object.hasOwn(SETTING_SECTIONS, of)) return settingsTable(of);
  if (kind === "command" && command) return commandPart(command, of);
  if (kind === "metrics") return metricsTable();
  throw new Error(`the code has no part "${name}" of the reference`);
}

const PART = /^<!-- generated: (.+?) -->\n[^]*?^<!-- end -->$/gm;

/** The names of the parts of a page. */
export const partsOf = (page: string): string[] => [...page.matchAll(PART)].map(([, name = ""]) => name);

/** Returns a page with its generated parts as the code has them now. */
export async function withParts(page: string): Promise<string> {
  let result = page;
  for (const name of partsOf(page)) {
    const part = `<!-- generated: ${name} -->\n\n${await partOf(name)}\n\n<!-- end -->`;
    result = result.replaceAll(PART, (whole, each: string) => (each === name ? part : whole));
  }
  return result;
}
