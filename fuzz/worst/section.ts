import type { Input, Worst } from "./search.ts";
import { LIMITS } from "./cost-bench.ts";

/** The limits that no request may exceed. */
export const MOST_MS = 50;
export const MOST_MB = 20;

export const HEADING = "## Cost of the worst request";

const LONGEST = 40;

/** Escapes backquotes and characters that do not print, tabs among them. */
const code = (text: string): string =>
  `\`${text.replaceAll(/`|[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}\``;

const short = (text: string): string => (text.length > LONGEST ? `…${text.slice(-LONGEST)}` : text);

/** The growing part of a request, in Markdown: `X-Filter: {"+or":[ {}, … ]}`. */
export function shapeOf({ candidate: { where }, pump: { before, unit }, part }: Input): string {
  const bytes =
    (where.startsWith("body") || where.includes("form") || where === "file" ? LIMITS.body : LIMITS.head) *
    part;
  const size = bytes >= 10_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes)} B`;
  return `${where}: ${before === "" ? "" : `${code(short(before))} and `}${size} of ${code(unit.slice(0, LONGEST))}`;
}

/** Rows of the admin listener: the operator decides who reaches it, and no bound applies to them. */
export const isAdminRow = ({ of }: Pick<Worst, "of">): boolean => of.endsWith("(admin)");

/** Whether a request is dearer than any may be. */
export const isTooDear = (row: Worst): boolean =>
  !isAdminRow(row) && (row.time.cost.ms > MOST_MS || row.memory.cost.mb > MOST_MB);

/** The most expensive inputs of each row, separated by tabs. */
export const costTable = (worst: readonly Worst[]): string =>
  [
    ["request", "ms", "input that takes longest", "MB", "input that allocates most"],
    ...worst.map(({ of, time, memory }) => [
      of,
      time.cost.ms.toFixed(1),
      shapeOf(time.input),
      memory.cost.mb.toFixed(1),
      shapeOf(memory.input),
    ]),
  ]
    .map((cells) => `${cells.join("\t")}\n`)
    .join("");

const largest = (worst: readonly Worst[]): string => {
  const ms = Math.max(...worst.map(({ time }) => time.cost.ms));
  const mb = Math.max(...worst.map(({ memory }) => memory.cost.mb));
  return `at most ${ms.toFixed(1)} ms and ${mb.toFixed(1)} MB`;
};

/** The section of the page, in Markdown. */
export function worstSection(worst: readonly Worst[]): string {
  const admin = worst.filter(isAdminRow);
  const bounded = worst.filter((each) => !isAdminRow(each));
  return [
    HEADING,
    "",
    `Written on ${new Date().toISOString().slice(0, 10)} by \`npm run fuzz -- worst --page docs/results/inputs.md\`. For each route, form and header a search looks for the`,
    `most expensive request below the limits (a body of ${LIMITS.body / 1e6} MB, a head of ${LIMITS.head / 1000} kB) of a client with a good token: milliseconds of the event`,
    `loop, with the audit record and without full garbage collections, and megabytes allocated. No row may exceed ${MOST_MS} ms or ${MOST_MB} MB.`,
    "",
    `${bounded.length} rows, ${largest(bounded)}; ${bounded.filter(isTooDear).length} above the bound. [costs.tsv](costs.tsv) has them.`,
    ...(admin.length > 0
      ? [
          `The ${admin.length} rows of the admin listener (${largest(admin)}) have no bound: the operator decides who reaches it.`,
        ]
      : []),
    "",
  ].join("\n");
}

/** The page without the section, which is its last one, and the section. */
export function splitPage(page: string): { readonly rest: string; readonly section: string } {
  const at = page.indexOf(`${HEADING}\n`);
  return at < 0 ? { rest: page, section: "" } : { rest: page.slice(0, at), section: page.slice(at) };
}

/** A page with this section in place of an earlier one. */
export const withWorst = (page: string, worst: readonly Worst[]): string =>
  `${splitPage(page).rest.trimEnd()}\n\n${worstSection(worst)}`;
