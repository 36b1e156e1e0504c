import type { Command } from "commander";
import { loadPack, packFolder } from "../../../pack/index.ts";
import { toVisibleLine } from "../../../base/index.ts";
import { REQUIRED_CLIENTS } from "../../../compare/index.ts";
import {
  CallJudge,
  type ClientMean,
  type Coverage,
  CoverageCounter,
  type Refusal,
} from "../../../migration/index.ts";
import { readExamples } from "../../../authoring/index.ts";
import type { CommandSettings } from "../command-settings.ts";
import { readDirectory } from "./operator-files.ts";
import { showProgress } from "../progress.ts";
import { readRecordFilters, type RecordFilters } from "./record-filters.ts";
import { readCalls } from "./read-calls.ts";
import { openSource } from "../compare/record-source.ts";
import { print, printData } from "../terminal.ts";

export interface CoverageFlags extends RecordFilters {
  /** File, `-` for standard input, folder, or address of an audit store. */
  readonly from: string;
  /** Folder of a pack. */
  readonly pack?: string;
  readonly format: "text" | "json";
  /** What refusals are ranked by. */
  readonly by: "calls" | "clients";
  /** Per cent of the calls of a client, as a number. */
  readonly failBelow?: number;
  /** Of an archive only calls to this address. */
  readonly baseUrl?: URL;
  /** Parameters of the query that the pack may ignore. */
  readonly ignoreParameter?: readonly string[];
}

/** The exit code where too little is known: a gate must not pass. */
const NOT_KNOWN = 2;

/** Refusals and clients that the text lists. */
const MOST_LISTED = 30;

/** Per cent with two digits, rounded down: only all calls are 100. */
const percent = (part: number, all: number): string =>
  `${(all === 0 ? 0 : Math.floor((part / all) * 10_000) / 100).toString()} %`;

const clientName = (client: string | null): string => client ?? "without a token";

const column = (value: number | string): string => String(value).padStart(8);

/** The first lines of a list, and how many more there are. */
function listed<T>(title: string, items: readonly T[], line: (item: T) => string): string[] {
  if (items.length === 0) return [];
  const more = items.length - MOST_LISTED;
  return [
    "",
    title,
    ...items.slice(0, MOST_LISTED).map((item) => toVisibleLine(line(item))),
    ...(more > 0 ? [`          and ${more} more (--format json has all)`] : []),
  ];
}

/** What the gate goes by, in words. */
function describeMean({ clients, share, unproven, largest }: ClientMean): string[] {
  const mean =
    share === null
      ? "The mean of the clients is not known: one client does not decide"
      : `${percent(share, 1)} is the mean of the clients, each counted once, without the best one`;
  const counted = `${clients} ${clients === 1 ? "client counts" : "clients count"}, by name or network`;
  const hint =
    clients < REQUIRED_CLIENTS
      ? ": name more of them (CLIENTS_FILE), or set TRUST_PROXY, if they seem to come from one address"
      : "";
  const networks = unproven === 1 ? "1 network has" : `${unproven} networks have`;
  return [
    mean,
    counted + hint,
    ...(clients > 1 ? [`${percent(largest, 1)} of their calls are those of one client`] : []),
    ...(unproven > 0
      ? [`${networks} refused calls with tokens that nobody has proven: name their clients, if they are any`]
      : []),
  ];
}

/** The exit code of a gate. */
function gate({ share, shareWithUnproven }: ClientMean, least: number): number {
  if (share === null) return NOT_KNOWN;
  if (share * 100 < least) return 1;
  return (shareWithUnproven ?? 0) * 100 < least ? NOT_KNOWN : 0;
}

function formatCoverage({ calls, served, clients, mean, refusals, notJudged }: Coverage): string {
  const complete = clients.filter((client) => client.served === client.calls).length;
  const lines = [
    `${percent(served, calls)} of the calls would be served: ${served} of ${calls}`,
    `${percent(complete, clients.length)} of the clients would be served completely: ${complete} of ${clients.length}`,
    ...describeMean(mean),
    ...listed(
      "Refused:\n   calls  clients",
      refusals,
      ({ calls: count, clients: callers, route, reason }) =>
        `${column(count)} ${column(callers)}  ${route === "" ? "" : `${route}: `}${reason}`,
    ),
    ...listed(
      "Clients with refused calls:\n refused    calls",
      clients.filter((client) => client.served < client.calls),
      (client) =>
        `${column(client.calls - client.served)} ${column(client.calls)}  ${clientName(client.client)}`,
    ),
    ...listed(
      "Not judged:\n   calls",
      notJudged,
      ({ calls: count, reason }) => `${column(count)}  ${reason}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

const byClients = (one: Refusal, other: Refusal): number =>
  other.clients - one.clients || other.calls - one.calls;

/**
 * Runs `alpha-gateway coverage`.
 *
 * @returns the exit code: 1 if fewer calls of the clients would be served than `--fail-below` says, 2 if that is not known
 * @throws {InvalidExportError} {InvalidHarError}
 */
export async function coverage(
  { from, pack: folder, format, by, failBelow, baseUrl, ignoreParameter = [], ...filters }: CoverageFlags,
  { MAPPINGS_DIR, WORDS, PUBLIC_URL: publicUrl, CLIENTS_FILE }: CommandSettings,
  command: Command,
): Promise<number> {
  const query = readRecordFilters(filters, command);
  const packDirectory = packFolder(folder ?? MAPPINGS_DIR);
  const pack = loadPack(packDirectory, WORDS);
  const filterHeader = pack.dialect.client.filters?.header;
  const directory = readDirectory(CLIENTS_FILE);
  const { catalogs } = readExamples(packDirectory, []);
  const judge = new CallJudge(pack, { catalogs, publicUrl, ignorable: new Set(ignoreParameter) });
  const counter = new CoverageCounter(pack);
  const source = await openSource(from, query);
  const progress = showProgress("calls");
  let done = 0;
  try {
    for await (const call of readCalls(source, { filterHeader, directory, query, baseUrl })) {
      progress((done += 1), source.count);
      if (!call) continue;
      if (call.skipped === undefined) counter.add(call, await judge.judge(call));
      else counter.skip(call.skipped, call.count);
    }
  } finally {
    progress.end();
    await source.close();
  }
  const result = counter.result();
  const refusals = by === "clients" ? result.refusals.toSorted(byClients) : result.refusals;
  if (format === "json") printData(`${JSON.stringify({ ...result, refusals }, null, 2)}\n`);
  else print(formatCoverage({ ...result, refusals }));
  if (result.calls === 0) return NOT_KNOWN;
  return failBelow === undefined ? 0 : gate(result.mean, failBelow);
}
