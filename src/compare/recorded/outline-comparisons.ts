/** The results of comparisons and an example of a difference, as blocks. */
import {
  type Block,
  cutText,
  formatMinute,
  formatCount,
  formatMinuteUtc,
  formatRate,
  type Item,
  type Line,
  plural,
  verbFor,
} from "../../base/index.ts";
import type { DescribedExample, DifferingRule } from "./describe-example.ts";
import {
  type FieldSummary,
  REQUIRED_CLIENTS,
  type RouteSummary,
  type SourceSummary,
  type RateVerdict,
} from "../counts/summary.ts";

const MAX_FIELDS = 5;
const MAX_NAMES = 5;
const MAX_ROUTES = 10;
/** Maximum number of characters of a value in a line. */
const MAX_VALUE = 40;

function names(all: readonly string[]): string {
  const more = all.length - MAX_NAMES;
  return all.slice(0, MAX_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function verdictLine(
  { verdict, clients, distinct, different, required, upperBound }: RouteSummary,
  rate: number,
): string {
  const differ = `${formatCount(different)} ${verbFor(different, "differ")}`;
  const cases = `${plural(distinct, "distinct comparison")}, ${differ}`;
  if (verdict === "not enough") {
    const isOfFew = clients < REQUIRED_CLIENTS;
    const few = isOfFew ? `; not enough clients: ${clients} of ${REQUIRED_CLIENTS}` : "";
    return `not enough: ${formatCount(distinct)} of ${formatCount(required ?? 0)}, ${differ}${few}`;
  }
  if (verdict === "below") return `enough: ${cases}, the rate is below ${formatRate(upperBound ?? rate)}`;
  return `too many differ (more than ${formatRate(rate)}): ${cases}`;
}

/** The lines about an example of a field. */
type ExampleLines = (id: string, field: string) => readonly Line[];

const showCommand: ExampleLines = (id) => [
  [{ link: `alpha-gateway parity show ${id}`, to: `/parity/${id}` }],
];

function describeField(
  { field, kind, count: times, unstable, clients, examples, last }: FieldSummary,
  exampleLines: ExampleLines,
): Item {
  const unconfirmed = unstable > 0 ? `, ${formatCount(unstable)} not confirmed` : "";
  const by = clients.length > 0 ? `, ${clients.join(", ")}` : "";
  return {
    line: `${field === "" ? "the body" : field} (${kind}): ${formatCount(times)}${unconfirmed}, last ${formatMinute(last)}${by}`,
    items: examples.flatMap((id) => exampleLines(id, field)),
  };
}

function describeResults({ comparisons, equal, unstable, accepted, notComparable }: RouteSummary): string {
  const reasons = Object.entries(notComparable).map(([reason, times]) => `${reason} ${formatCount(times)}`);
  const parts = [
    `${formatCount(equal)} equal`,
    ...(accepted > 0 ? [`${formatCount(accepted)} accepted`] : []),
    ...(unstable > 0 ? [`${formatCount(unstable)} unstable`] : []),
    ...(reasons.length > 0 ? [`not comparable: ${reasons.join(", ")}`] : []),
  ];
  return `${plural(comparisons, "comparison")}: ${parts.join(", ")}`;
}

function outlineRoute(summary: RouteSummary, rate: number, exampleLines: ExampleLines): Block {
  const { route, fields, gaps } = summary;
  const more = fields.length - MAX_FIELDS;
  const items: Item[] = [
    verdictLine(summary, rate),
    describeResults(summary),
    ...fields.slice(0, MAX_FIELDS).map((field) => describeField(field, exampleLines)),
    ...(more > 0 ? [`and ${more} more fields`] : []),
    ...(gaps && gaps.fields.length > 0 ? [`without a value so far: ${names(gaps.fields)}`] : []),
    ...(gaps && gaps.words.length > 0 ? [`words not seen so far: ${names(gaps.words)}`] : []),
  ];
  return { kind: "list", items: [{ line: route, items }] };
}

/** Returns the answer to the question whether fewer than this rate of the responses differ. */
function answerLine({ source, verdict, rate }: SourceSummary): string {
  const asked = `fewer than ${formatRate(rate)} of the answers differ`;
  if (verdict === "below") return `${source}: enough: ${asked} on each compared route`;
  if (verdict === "above") return `${source}: more than ${formatRate(rate)} of the answers differ`;
  return `${source}: not enough to say that ${asked}`;
}

const VERDICTS: readonly (readonly [RateVerdict, string])[] = [
  ["above", "too many differ on"],
  ["not enough", "not enough on"],
  ["below", "enough on"],
];

/** Formats the verdicts: `: not enough on 2, enough on 1`. */
function countVerdicts(routes: readonly RouteSummary[]): string {
  const counts = VERDICTS.flatMap(([verdict, words]) => {
    const having = routes.filter((route) => route.verdict === verdict).length;
    return having > 0 ? [`${words} ${having}`] : [];
  });
  return counts.length > 0 ? `: ${counts.join(", ")}` : "";
}

/** The layout of a report. */
interface Layout {
  /** The lines about an example of a field. Default: the command that shows it. */
  readonly exampleLines?: ExampleLines;
  /** Whether all routes are listed. Default: the first {@link MAX_ROUTES}, and where all of them are. */
  readonly isComplete?: boolean;
}

const text = (line: Line): Block => ({ kind: "text", line });

function outlineSource(
  { source, since, rate, routes, routesWithoutTraffic: unused, dropped }: SourceSummary,
  { exampleLines = showCommand, isComplete = false }: Layout,
): Block[] {
  const [maxRoutes, whereAll] = isComplete ? [Infinity, ""] : [MAX_ROUTES, " (--format json has all)"];
  const more = routes.length - maxRoutes;
  return [
    text(
      `${source}: ${plural(routes.length, "route")} since ${formatMinuteUtc(since)}${countVerdicts(routes)}`,
    ),
    ...routes.slice(0, maxRoutes).map((route) => outlineRoute(route, rate, exampleLines)),
    ...(more > 0 ? [text(`and ${plural(more, "more route")}${whereAll}`)] : []),
    ...(unused.length > 0
      ? [
          text(
            `${plural(unused.length, "route")} without traffic: ${names(unused)}${unused.length > MAX_NAMES ? whereAll : ""}`,
          ),
        ]
      : []),
    ...(dropped > 0
      ? [text(`${formatCount(dropped)} routes and fields were left out: there are too many of them`)]
      : []),
  ];
}

/** The results of comparisons: the verdicts first, then their sources. */
export function outlineComparisons(summaries: readonly SourceSummary[], layout: Layout = {}): Block[] {
  if (summaries.length === 0) return [text("Nothing was compared yet.")];
  return [
    { kind: "list", items: summaries.map(answerLine) },
    ...summaries.flatMap((summary) => outlineSource(summary, layout)),
  ];
}

function describeRule({ field, rule, place }: DifferingRule, whose: string): string {
  const where = place === null ? "" : `${place}: `;
  return `${field === "" ? "the body" : field}${whose}: ${where}${rule ?? "no rule of a field makes it"}`;
}

/** Both bodies of an example side by side, and their sources. Rows that differ start with `!`. */
export function outlineExample(
  { example, lines, rules, curl }: DescribedExample,
  candidateRules: readonly DifferingRule[],
): Block[] {
  const { source, route, client, time, requestId, old, new: other } = example;
  const [before, after] = source === "candidate" ? ["active pack", "candidate"] : ["old service", "gateway"];
  const status = {
    path: "status",
    old: String(old.status),
    new: String(other.status),
    isDifferent: old.status !== other.status,
  };
  const cell = (value: string | null): string => (value === null ? "-" : cutText(value, MAX_VALUE));
  return [
    text(`${route}, ${client ?? "without a token"}, ${formatMinuteUtc(time)}, request ${requestId}`),
    {
      kind: "table",
      caption: "",
      columns: [{ name: "" }, { name: before }, { name: after }],
      rows: [status, ...lines].map((line) => [
        `${line.isDifferent ? "!" : " "} ${line.path}`,
        cell(line.old),
        cell(line.new),
      ]),
    },
    {
      kind: "list",
      items: [
        ...rules.map((rule) => describeRule(rule, candidateRules.length > 0 ? ", active pack" : "")),
        ...candidateRules.map((rule) => describeRule(rule, ", candidate")),
      ],
    },
    { kind: "code", title: before, text: curl.old },
    { kind: "code", title: after, text: curl.new },
    ...(curl.upstream.length > 0
      ? [{ kind: "code" as const, title: "the calls to the upstream", text: curl.upstream.join("\n") }]
      : []),
  ];
}
