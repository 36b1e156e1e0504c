/** The output of `alpha-gateway parity` for people. */
import {
  type DescribedExample,
  type DifferingRule,
  type FieldSummary,
  REQUIRED_CLIENTS,
  type RouteSummary,
  type SourceSummary,
  type Verdict,
} from "../../../compare/index.ts";
import { formatMinute, formatMinuteUtc, formatSpacedCount, plural } from "../../../base/index.ts";

const MAX_FIELDS = 5;
const MAX_NAMES = 5;
const MAX_ROUTES = 10;
/** Characters of a value in a line. */
const MAX_VALUE = 40;

/** `0.1 %`. */
const percent = (rate: number): string => `${Number((rate * 100).toPrecision(3))} %`;

function names(all: readonly string[]): string {
  const more = all.length - MAX_NAMES;
  return all.slice(0, MAX_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function verdictLine(
  { verdict, clients, distinct, different, required, upperBound }: RouteSummary,
  rate: number,
): string {
  const differ = `${formatSpacedCount(different)} ${different === 1 ? "differs" : "differ"}`;
  const cases = `${formatSpacedCount(distinct)} distinct ${distinct === 1 ? "comparison" : "comparisons"}, ${differ}`;
  if (verdict === "not enough") {
    const isOfFew = clients < REQUIRED_CLIENTS;
    const few = isOfFew ? `; not enough clients: ${clients} of ${REQUIRED_CLIENTS}` : "";
    return `not enough: ${formatSpacedCount(distinct)} of ${formatSpacedCount(required ?? 0)}, ${differ}${few}`;
  }
  if (verdict === "below") return `enough: ${cases}, the rate is below ${percent(upperBound ?? rate)}`;
  return `too many differ for ${percent(rate)}: ${cases}`;
}

/** The lines about an example of a field. */
type ExampleLines = (id: string, field: string) => readonly string[];

const showCommand: ExampleLines = (id) => [`    alpha-gateway parity show ${id}`];

function fieldLines(
  { field, kind, count: times, unstable, clients, examples, last }: FieldSummary,
  exampleLines: ExampleLines,
): string[] {
  const unconfirmed = unstable > 0 ? `, ${formatSpacedCount(unstable)} not confirmed` : "";
  const by = clients.length > 0 ? `, ${clients.join(", ")}` : "";
  return [
    `  ${field === "" ? "the body" : field} (${kind}): ${formatSpacedCount(times)}${unconfirmed}, last ${formatMinute(last)}${by}`,
    ...examples.flatMap((id) => exampleLines(id, field)),
  ];
}

function routeLines(summary: RouteSummary, rate: number, exampleLines: ExampleLines): string[] {
  const { route, comparisons, equal, unstable, accepted, notComparable, fields, gaps } = summary;
  const reasons = Object.entries(notComparable).map(
    ([reason, times]) => `${reason} ${formatSpacedCount(times)}`,
  );
  const parts = [
    `${formatSpacedCount(equal)} equal`,
    ...(accepted > 0 ? [`${formatSpacedCount(accepted)} accepted`] : []),
    ...(unstable > 0 ? [`${formatSpacedCount(unstable)} unstable`] : []),
    ...(reasons.length > 0 ? [`not comparable: ${reasons.join(", ")}`] : []),
  ];
  const more = fields.length - MAX_FIELDS;
  return [
    route,
    `  ${verdictLine(summary, rate)}`,
    `  ${formatSpacedCount(comparisons)} comparisons: ${parts.join(", ")}`,
    ...fields.slice(0, MAX_FIELDS).flatMap((field) => fieldLines(field, exampleLines)),
    ...(more > 0 ? [`  and ${more} more fields`] : []),
    ...(gaps && gaps.fields.length > 0 ? [`  without a value so far: ${names(gaps.fields)}`] : []),
    ...(gaps && gaps.words.length > 0 ? [`  words not seen so far: ${names(gaps.words)}`] : []),
  ];
}

/** The answer to what is asked: do fewer than this rate of the answers differ? */
function answerLine({ source, verdict, rate }: SourceSummary): string {
  const asked = `fewer than ${percent(rate)} of the answers differ`;
  if (verdict === "below") return `${source}: enough: ${asked} on each compared route`;
  if (verdict === "above") return `${source}: too many answers differ for ${percent(rate)}`;
  return `${source}: not enough to say that ${asked}`;
}

const VERDICTS: readonly (readonly [Verdict, string])[] = [
  ["above", "too many differ on"],
  ["not enough", "not enough on"],
  ["below", "enough on"],
];

/** `: not enough on 2, enough on 1`. */
function countVerdicts(routes: readonly RouteSummary[]): string {
  const counts = VERDICTS.flatMap(([verdict, words]) => {
    const having = routes.filter((route) => route.verdict === verdict).length;
    return having > 0 ? [`${words} ${having}`] : [];
  });
  return counts.length > 0 ? `: ${counts.join(", ")}` : "";
}

/** How a report is laid out. */
interface Layout {
  readonly exampleLines: ExampleLines;
  /** Routes of a source that are listed. */
  readonly maxRoutes: number;
  /** Where all of a list is. */
  readonly whereAll: string;
}

const LAYOUT: Layout = {
  exampleLines: showCommand,
  maxRoutes: MAX_ROUTES,
  whereAll: " (--format json has all)",
};

function sourceLines(
  { source, since, rate, routes, routesWithoutTraffic: unused, dropped }: SourceSummary,
  { exampleLines, maxRoutes, whereAll }: Layout,
): string[] {
  const moreRoutes = routes.length - maxRoutes;
  return [
    `${source}: ${plural(routes.length, "route")} since ${formatMinuteUtc(since)}${countVerdicts(routes)}`,
    "",
    ...routes.slice(0, maxRoutes).flatMap((route) => [...routeLines(route, rate, exampleLines), ""]),
    ...(moreRoutes > 0 ? [`and ${plural(moreRoutes, "more route")}${whereAll}`, ""] : []),
    ...(unused.length > 0
      ? [
          `${plural(unused.length, "route")} without traffic: ${names(unused)}${unused.length > MAX_NAMES ? whereAll : ""}`,
          "",
        ]
      : []),
    ...(dropped > 0
      ? [`${formatSpacedCount(dropped)} routes and fields were left out: there are too many of them`, ""]
      : []),
  ];
}

/** What comparisons have found: the answers first, then what they come from. */
export function formatComparisons(summaries: readonly SourceSummary[], layout: Partial<Layout> = {}): string {
  if (summaries.length === 0) return "Nothing was compared yet.\n";
  const sources = summaries.flatMap((summary) => sourceLines(summary, { ...LAYOUT, ...layout }));
  return `${[...summaries.map(answerLine), "", ...sources].join("\n").trimEnd()}\n`;
}

const cut = (value: string | null): string =>
  value === null ? "-" : value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}…`;

function ruleLine({ field, rule, place }: DifferingRule, whose: string): string {
  const where = place === null ? "" : `${place}: `;
  return `${field === "" ? "the body" : field}${whose}: ${where}${rule ?? "no rule of a field makes it"}`;
}

/** Both bodies of an example beside each other, and what made them. Lines that differ begin with `!`. */
export function formatExample(
  { example, lines, rules, curl }: DescribedExample,
  candidateRules: readonly DifferingRule[],
): string {
  const { source, route, client, time, requestId, old, new: other } = example;
  const [before, after] = source === "candidate" ? ["active pack", "candidate"] : ["old service", "gateway"];
  const table = [
    { path: "", old: before, new: after, isDifferent: false },
    {
      path: "status",
      old: String(old.status),
      new: String(other.status),
      isDifferent: old.status !== other.status,
    },
    ...lines,
  ].map((line) => ({ ...line, old: cut(line.old), new: cut(line.new) }));
  const [pathWidth, oldWidth] = [
    Math.max(...table.map(({ path }) => path.length)),
    Math.max(...table.map((line) => line.old.length)),
  ];
  return [
    `${route}, ${client ?? "without a token"}, ${formatMinuteUtc(time)}, request ${requestId}`,
    "",
    ...table.map((line) =>
      `${line.isDifferent ? "!" : " "} ${line.path.padEnd(pathWidth)}  ${line.old.padEnd(oldWidth)}  ${line.new}`.trimEnd(),
    ),
    "",
    ...rules.map((rule) => ruleLine(rule, candidateRules.length > 0 ? ", active pack" : "")),
    ...candidateRules.map((rule) => ruleLine(rule, ", candidate")),
    "",
    `# ${before}`,
    curl.old,
    `# ${after}`,
    curl.new,
    ...(curl.upstream.length > 0 ? ["# the calls to the upstream", ...curl.upstream] : []),
    "",
  ].join("\n");
}
