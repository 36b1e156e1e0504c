/** `alpha-gateway clients`: lists clients that are missing in the directory, and writes a first directory. */
import { stringify } from "yaml";
import { type Block, type FeatureCommands, formatCount, formatDay, plural } from "../../base/index.ts";
import type { AuditStore } from "../store/store.ts";
import { createMigrationJudge, type Migration, pauseDays, spansOf } from "../usage/migration-state.ts";
import { nameClients, type NamedClient } from "../usage/name-clients.ts";
import { isNamedKey, UNACCEPTED } from "../usage/summary-key.ts";
import { agentsText } from "../usage/usage.ts";
import { agentFamily } from "../clients/agent-pattern.ts";
import type { ClientDirectory } from "../clients/client-directory.ts";

const daysOf = ({ first, last }: NamedClient): string => `${formatDay(first)} to ${formatDay(last)}`;

function outlineClients(clients: readonly NamedClient[], judge: (client: NamedClient) => Migration): Block[] {
  if (clients.length === 0) return [{ kind: "text", line: "All clients have names." }];
  const rows = clients.map((client) => {
    const { requests, tokens } = client;
    const { state, cameBack, isPauseLonger } = judge(client);
    const ofTokens = tokens > 1 ? ` (${plural(tokens, "token")})` : "";
    const returned = cameBack === null ? "" : `  came back on ${cameBack}`;
    const pause = isPauseLonger ? `  paused for ${plural(pauseDays(client), "day")} before` : "";
    return [
      formatCount(requests),
      state ?? "",
      daysOf(client),
      `${client.client ?? ""}${ofTokens}`,
      `${agentsText(client) ?? "no user agent"}${returned}${pause}`,
    ];
  });
  const columns = [
    { name: "requests", number: true as const },
    { name: "state" },
    { name: "first and last day" },
    { name: "client" },
    { name: "user agent" },
  ];
  return [
    { kind: "table", caption: "", columns, rows },
    { kind: "text", line: "alpha-gateway clients --format yaml prints entries for CLIENTS_FILE." },
  ];
}

interface Entry {
  readonly note: string;
  readonly tokens?: readonly string[];
  readonly applications?: readonly string[];
}

const isLetter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** Converts a text to a name of the directory, which starts and ends with a letter or a digit. */
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
      // The label is the name of these requests, so no entry is needed.
      if (label !== null) return [[label, { note }]];
      if (application !== null) return [[freeName(application), { note, applications: [application] }]];
      const tokens = group.flatMap(({ fingerprint }) => fingerprint ?? []);
      return [[freeName(agentFamily(userAgent) ?? "unknown"), { note, tokens }]];
    }),
  );
}

export const CLIENTS_COMMANDS: FeatureCommands<
  { readonly audit: AuditStore | undefined },
  { current(): ClientDirectory }
> = {
  settings: ["DATA_DIR", "DATABASE_URL", "CLIENTS_FILE", "QUIET_DAYS"],
  absence: "there is no client directory",
  all: [
    {
      syntax: "",
      format: "yaml",
      audit: "needed",
      async run({ parts, needs: { audit }, settings: { QUIET_DAYS: quietDays } }) {
        if (!audit) throw new Error("clients are in the audit store");
        const directory = parts.current();
        const counted = await audit.clients({ limit: Number.MAX_SAFE_INTEGER });
        const unnamed = nameClients(counted, directory).filter(
          ({ name, client }) => name === null && client !== null && client !== UNACCEPTED,
        );
        const quiet = { quietDays, now: Date.now() };
        const spans = await audit.spans(spansOf({}, quiet));
        const taken = directory.clients.map(({ name }) => name);
        return {
          blocks: outlineClients(unnamed, createMigrationJudge(spans, unnamed, quiet)),
          data: unnamed.length === 0 ? "" : stringify(suggestDirectory(unnamed, taken), { lineWidth: 0 }),
        };
      },
    },
  ],
};
