import type { Command } from "commander";
import { loadPack, packFolder } from "../../../pack/index.ts";
import {
  type Block,
  formatCount,
  tableOf,
  withClosing,
  type Settings,
  percentDown,
  plural,
  verbFor,
} from "../../../base/index.ts";
import { REQUIRED_CLIENTS } from "../../../compare/index.ts";
import {
  CallJudge,
  type ClientMean,
  type Coverage,
  CoverageCounter,
  type Refusal,
} from "../../../migration/index.ts";
import { readExamples } from "../../../authoring/index.ts";
import { readDirectory } from "../feature-needs.ts";
import { showProgress } from "../progress.ts";
import { readRecordFilters, type RecordFilters } from "./record-filters.ts";
import { readCalls } from "./read-calls.ts";
import { openSource } from "../compare/record-source.ts";
import { printBlocks, printData } from "../terminal.ts";

export interface CoverageFlags extends RecordFilters {
  /** The source: a file, `-` for standard input, a folder, or the address of an audit store. */
  readonly from: string;
  /** The folder of a pack. */
  readonly pack?: string;
  readonly format: "text" | "json";
  /** The unit for sorting refusals. */
  readonly by: "calls" | "clients";
  /** Minimum percentage of a client's calls. */
  readonly failBelow?: number;
  /** For a HAR file: selects calls to this address. */
  readonly baseUrl?: URL;
  /** Query parameters that the pack may ignore. */
  readonly ignoreParameter?: readonly string[];
}

/** The exit code if the result is unknown, because a gate must not pass in that case. */
const NOT_KNOWN = 2;

/** Maximum numbers of refusals and clients in the text. */
const MOST_LISTED = 30;

/** Lists the first items as a table. Empty if there are no items. */
function outlineFirst<T>(
  caption: string,
  items: readonly T[],
  columns: Parameters<typeof tableOf<T>>[2],
): Block[] {
  if (items.length === 0) return [];
  const more = items.length - MOST_LISTED;
  return [
    tableOf(caption, items.slice(0, MOST_LISTED), columns),
    ...(more > 0
      ? [{ kind: "text" as const, line: `and ${formatCount(more)} more (--format json has all)` }]
      : []),
  ];
}

/** Describes the rule of the gate in a sentence. */
function describeMean({ clients, share, unproven, largest }: ClientMean): string[] {
  const mean =
    share === null
      ? "The mean of the clients is not known: one client does not decide"
      : `${percentDown(share, 1)} is the mean of the clients, each counted once, without the best one`;
  const counted = `${plural(clients, "client")} ${verbFor(clients, "count")}, by name or network`;
  const hint =
    clients < REQUIRED_CLIENTS
      ? ": name more of them (CLIENTS_FILE), or set TRUST_PROXY, if they seem to come from one address"
      : "";
  const networks = `${plural(unproven, "network")} ${verbFor(unproven, "have", "has")}`;
  return [
    mean,
    counted + hint,
    ...(clients > 1 ? [`${percentDown(largest, 1)} of their calls are those of one client`] : []),
    ...(unproven > 0
      ? [`${networks} refused calls with unproven tokens: name their clients, if they are any`]
      : []),
  ];
}

/** Returns the exit code of a gate. */
function gate({ share, shareWithUnproven }: ClientMean, least: number): number {
  if (share === null) return NOT_KNOWN;
  if (share * 100 < least) return 1;
  return (shareWithUnproven ?? 0) * 100 < least ? NOT_KNOWN : 0;
}

function outlineCoverage({ calls, served, clients, mean, refusals, notJudged }: Coverage): Block[] {
  const complete = clients.filter((client) => client.served === client.calls).length;
  return [
    {
      kind: "list",
      items: [
        `${percentDown(served, calls)} of the calls would be served: ${formatCount(served)} of ${formatCount(calls)}`,
        `${percentDown(complete, clients.length)} of the clients would be served completely: ${formatCount(complete)} of ${formatCount(clients.length)}`,
        ...describeMean(mean),
      ],
    },
    ...outlineFirst("Refused", refusals, [
      ["calls", (refusal) => formatCount(refusal.calls), "number"],
      ["clients", (refusal) => formatCount(refusal.clients), "number"],
      ["why", ({ route, reason }) => `${route === "" ? "" : `${route}: `}${reason}`],
    ]),
    ...outlineFirst(
      "Clients with refused calls",
      clients.filter((client) => client.served < client.calls),
      [
        ["refused", (client) => formatCount(client.calls - client.served), "number"],
        ["calls", (client) => formatCount(client.calls), "number"],
        ["client", ({ client }) => client ?? "without a token"],
      ],
    ),
    ...outlineFirst("Not judged", notJudged, [
      ["calls", (skipped) => formatCount(skipped.calls), "number"],
      ["why", ({ reason }) => reason],
    ]),
  ];
}

const byClients = (one: Refusal, other: Refusal): number =>
  other.clients - one.clients || other.calls - one.calls;

/**
 * Runs `alpha-gateway coverage`.
 *
 * @returns the exit code: 1 if fewer calls of the clients would be served than `--fail-below` requires, 2 if this is
 *   unknown
 * @throws {InvalidExportError} {InvalidHarError}
 */
export async function coverage(
  { from, pack: folder, format, by, failBelow, baseUrl, ignoreParameter = [], ...filters }: CoverageFlags,
  settings: Settings,
  command: Command,
): Promise<number> {
  const query = readRecordFilters(filters, command);
  const { MAPPINGS_DIR, WORDS, PUBLIC_URL: publicUrl } = settings;
  const packDirectory = packFolder(folder ?? MAPPINGS_DIR);
  const pack = loadPack(packDirectory, WORDS);
  const filterHeader = pack.dialect.client.filters?.header;
  const directory = await readDirectory(settings);
  const { catalogs } = readExamples(packDirectory, []);
  const judge = new CallJudge(pack, { catalogs, publicUrl, ignorable: new Set(ignoreParameter) });
  const counter = new CoverageCounter(pack);
  await withClosing(async (keep) => {
    const source = keep(await openSource(from, query), ({ close }) => close());
    const progress = keep(showProgress("calls"), (each) => each.end());
    let done = 0;
    for await (const call of readCalls(source, { filterHeader, directory, query, base: baseUrl })) {
      progress((done += 1), source.count);
      if (!call) continue;
      if (call.skipped === undefined) counter.add(call, await judge.judge(call));
      else counter.skip(call.skipped, call.count);
    }
  });
  const result = counter.result();
  const refusals = by === "clients" ? result.refusals.toSorted(byClients) : result.refusals;
  if (format === "json") printData(`${JSON.stringify({ ...result, refusals }, null, 2)}\n`);
  else printBlocks(outlineCoverage({ ...result, refusals }));
  if (result.calls === 0) return NOT_KNOWN;
  return failBelow === undefined ? 0 : gate(result.mean, failBelow);
}
