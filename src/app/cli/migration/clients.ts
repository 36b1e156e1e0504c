/** `alpha-gateway clients`: clients that the directory does not have, and a first directory of them. */
import { stringify } from "yaml";
import {
  agentFamily,
  type CallSpan,
  cameBackOn,
  groupSpans,
  isNamedKey,
  migrationStateOf,
  nameClients,
  type NamedClient,
  openExistingAuditStore,
  type QuietTime,
  spansOf,
  UNACCEPTED,
} from "../../../audit/index.ts";
import { formatDay, plural, toVisibleLine } from "../../../base/index.ts";
import type { CommandSettings } from "../command-settings.ts";
import { readDirectory } from "./operator-files.ts";
import { print, printData } from "../terminal.ts";

export interface ClientsFlags {
  readonly format: "text" | "yaml";
}

/** Runs `alpha-gateway clients`. @returns the exit code */
export async function listClients({ format }: ClientsFlags, settings: CommandSettings): Promise<number> {
  const directory = readDirectory(settings.CLIENTS_FILE);
  const store = await openExistingAuditStore(settings);
  try {
    const counted = await store.clients({ limit: Number.MAX_SAFE_INTEGER });
    const unnamed = nameClients(counted, directory).filter(
      ({ name, client }) => name === null && client !== null && client !== UNACCEPTED,
    );
    if (format === "yaml") {
      const taken = directory.clients.map(({ name }) => name);
      printData(unnamed.length === 0 ? "" : stringify(suggestDirectory(unnamed, taken), { lineWidth: 0 }));
    } else {
      const quiet = { quietDays: settings.QUIET_DAYS, now: Date.now() };
      print(formatClients(unnamed, quiet, groupSpans(await store.spans(spansOf({}, quiet)), unnamed)));
    }
    return 0;
  } finally {
    await store.close();
  }
}

const daysOf = ({ first, last }: NamedClient): string => `${formatDay(first)} to ${formatDay(last)}`;

function formatClients(
  clients: readonly NamedClient[],
  quiet: QuietTime,
  spansOfKey: (key: string | null) => readonly CallSpan[],
): string {
  if (clients.length === 0) return "All clients have names.\n";
  const lines = clients.map((client) => {
    const { requests, userAgent, tokens } = client;
    const state = migrationStateOf(client, quiet);
    const cameBack = cameBackOn(spansOfKey(client.client), state, quiet);
    const count = String(requests).padStart(10);
    const key = client.client ?? "";
    const ofTokens = tokens > 1 ? ` (${plural(tokens, "token")})` : "";
    return toVisibleLine(
      `${count}  ${(state ?? "").padEnd(9)}  ${daysOf(client)}  ${key}${ofTokens}  ${userAgent ?? "no user agent"}${cameBack === null ? "" : `  came back on ${cameBack}`}`,
    );
  });
  return [
    `${"requests".padStart(10)}  ${"state".padEnd(9)}  ${"first and last day".padEnd(24)}  client`,
    ...lines,
    "",
    "alpha-gateway clients --format yaml prints entries for CLIENTS_FILE.",
    "",
  ].join("\n");
}

interface Entry {
  readonly note: string;
  readonly tokens?: readonly string[];
  readonly applications?: readonly string[];
}

const isLetter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** A text as a name of the directory: it starts and ends with a letter or a digit. */
function asName(text: string): string {
  const characters = Array.from(text.replaceAll(/[^\p{L}\p{N} ._/@+-]+/gu, "-").slice(0, 56));
  const first = characters.findIndex((character) => isLetter(character));
  const last = characters.findLastIndex((character) => isLetter(character));
  return characters.slice(Math.max(0, first), last + 1).join("");
}

/** Entries for the directory: one for each application and label, and one for each family of user agents. */
function suggestDirectory(
  clients: readonly NamedClient[],
  taken: readonly string[],
): Readonly<Record<string, Entry>> {
  const names = new Set(taken.map((name) => name.toLowerCase()));
  const groups = Map.groupBy(clients, (client) =>
    isNamedKey(client.client ?? "") ? client.client : `agent:${agentFamily(client.userAgent)}`,
  );

  function freeName(wanted: string): string {
    const base = asName(wanted) || "client";
    let name = base;
    for (let number = 2; names.has(name.toLowerCase()); number += 1) name = `${base}-${number}`;
    names.add(name.toLowerCase());
    return name;
  }

  return Object.fromEntries(
    [...groups.values()].flatMap((group): [string, Entry][] => {
      const [first] = group;
      if (!first) return [];
      const { label, application, userAgent } = first;
      const requests = group.reduce((sum, each) => sum + each.requests, 0);
      const last = group.reduce((latest, each) => (each.last > latest ? each.last : latest), "");
      const note = `${plural(requests, "request")}, the last on ${formatDay(last)}`;
      // Requests with a label have the name of the label: nothing else is needed.
      if (label !== null) return [[label, { note }]];
      if (application !== null) return [[freeName(application), { note, applications: [application] }]];
      const tokens = group.flatMap(({ fingerprint }) => fingerprint ?? []);
      return [[freeName(agentFamily(userAgent) ?? "unknown"), { note, tokens }]];
    }),
  );
}
