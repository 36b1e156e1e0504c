/** The client directory: names for tokens, applications and user agents. */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { about, type OperatorFileKind, type ReportProblem } from "../../base/index.ts";
import { compilePatterns, MAX_AGENT_LENGTH } from "./agent-pattern.ts";

const clientDefinition = z.strictObject({
  contact: about(
    z.string().max(200).optional(),
    "Whom to ask about the client, for readers of the file",
    "billing@example.com",
  ),
  owner: about(z.string().max(200).optional(), "Team or person who owns the client", "Team Billing"),
  note: about(z.string().max(2000).optional(), "Anything for operators", "runs each night at two"),
  tokens: about(
    z
      .array(z.string().regex(/^[0-9a-f]{16}$/, "is not a fingerprint: 16 hexadecimal digits in lower case"))
      .default([]),
    "Fingerprints of tokens, as records and reports show them",
    ["0123456789abcdef"],
  ),
  applications: about(
    z.array(z.string().min(1).max(200)).default([]),
    "Ids of OAuth applications: all their tokens are this client's",
    ["5f0c-billing"],
  ),
  user_agents: about(
    z
      .array(
        z
          .string()
          .min(1)
          .max(200)
          .regex(/[^*\s]/, "matches every user agent"),
      )
      .default([]),
    "Patterns of user agents, in which * stands for any text",
    ["billing-sync/*"],
  ),
  tester: about(
    z.boolean().default(false),
    "Whether this client may ask for the candidate pack with `X-Pack`",
    true,
  ),
  ends: about(
    z.iso.date("is not a date, YYYY-MM-DD").optional(),
    "The day on which this client's access to the old API ends",
    "2027-03-31",
  ),
});

/** Names are used as labels of metrics, in URLs, and in filters. */
const clientName = z
  .string()
  .regex(
    /^[\p{L}\p{N}](?:[\p{L}\p{N} ._/@+-]{0,62}[\p{L}\p{N}])?$/u,
    "is not a name: letters, digits, and . _ / @ + - or spaces inside, at most 64 characters",
  );

/** Maximum number of clients, because each becomes a label value of metrics. */
const MAX_CLIENTS = 1000;

/** Maximum number of patterns of all clients, because a new user agent may have to be compared with each of them. */
const MAX_PATTERNS = 2000;

const directoryDefinition = z
  .record(clientName, clientDefinition)
  .refine((clients) => Object.keys(clients).length <= MAX_CLIENTS, `has more than ${MAX_CLIENTS} clients`)
  .refine(
    (clients) => Object.values(clients).flatMap((client) => client.user_agents).length <= MAX_PATTERNS,
    `has more than ${MAX_PATTERNS} patterns of user agents: name clients by their tokens or applications`,
  );

type DirectoryDefinition = z.output<typeof directoryDefinition>;

/** An entry of the directory. No record, log or metric contains its contact, which is personal data. */
export interface KnownClient extends Readonly<
  Omit<z.output<typeof clientDefinition>, "user_agents" | "tester">
> {
  readonly name: string;
  readonly userAgents: readonly string[];
  /** Whether the client may select the candidate pack. */
  readonly isTester: boolean;
}

/** The known facts about the sender of a request. */
export interface ClientIdentity {
  /** The name that a trusted proxy sent in `CLIENT_HEADER`. */
  readonly label?: string | null | undefined;
  /** The id of the OAuth application to which the token was issued. */
  readonly application?: string | null | undefined;
  /** The fingerprint of the token. */
  readonly fingerprint?: string | null | undefined;
  readonly userAgent?: string | null | undefined;
}

/** Names of clients. The directory is replaced as a whole when its file changes. */
export interface ClientDirectory {
  readonly clients: readonly KnownClient[];
  /**
   * Returns the name of the sender of a request. A proxy's name takes precedence, then the application, the token, and
   * the user agent.
   *
   * @returns undefined for a client that is not in the directory
   */
  nameOf(identity: ClientIdentity): string | undefined;
  find(name: string): KnownClient | undefined;
}

/** Maximum number of user agents whose names are cached. */
const CACHED_AGENTS = 2000;

/** Maps each key to its client, and reports keys that several clients share. */
function indexKeys(
  clients: readonly KnownClient[],
  keysOf: (client: KnownClient) => readonly string[],
  reportTwice: (client: KnownClient, index: number, other: string) => void,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const client of clients)
    for (const [index, key] of keysOf(client).entries()) {
      const other = names.get(key);
      if (other !== undefined) reportTwice(client, index, other);
      names.set(key, client.name);
    }
  return names;
}

function compileDirectory(definition: DirectoryDefinition, report: ReportProblem): ClientDirectory {
  const clients = Object.entries(definition).map(
    ([name, { user_agents: userAgents, tester: isTester, ...others }]): KnownClient => ({
      name,
      ...others,
      userAgents,
      isTester,
    }),
  );
  const reportTwice =
    (code: string, key: "tokens" | "applications" | "user_agents") =>
    ({ name }: KnownClient, index: number, other: string): void =>
      report(
        code,
        [name, key, index],
        `"${definition[name]?.[key][index]}" belongs to the client "${other}" already`,
      );
  // Names that only differ in case are reported, because people and searches would confuse them.
  indexKeys(
    clients,
    ({ name }) => [name.toLowerCase()],
    ({ name }, _, other) =>
      report("AG_CLIENT_NAME_TWICE", [name], `the name is that of the client "${other}" in other letters`),
  );
  const byToken = indexKeys(clients, ({ tokens }) => tokens, reportTwice("AG_CLIENT_TOKEN_TWICE", "tokens"));
  const byApplication = indexKeys(
    clients,
    ({ applications }) => applications,
    reportTwice("AG_CLIENT_APPLICATION_TWICE", "applications"),
  );
  indexKeys(
    clients,
    ({ userAgents }) => userAgents.map((pattern) => pattern.toLowerCase()),
    reportTwice("AG_CLIENT_PATTERN_TWICE", "user_agents"),
  );
  const byName = new Map(clients.map((client) => [client.name, client]));
  const patterns = clients.flatMap(({ name, userAgents }) =>
    userAgents.map((pattern) => ({ pattern, name })),
  );
  const matchAgent = compilePatterns(patterns);
  const byAgent = new LRUCache<string, { readonly name: string | undefined }>({ max: CACHED_AGENTS });

  function nameOfAgent(agent: string): string | undefined {
    // The name is not cached: V8 keeps a whole text in memory while a part of it is used as a key.
    if (agent.length > MAX_AGENT_LENGTH) return matchAgent(agent.slice(0, MAX_AGENT_LENGTH));
    const cached = byAgent.get(agent);
    if (cached) return cached.name;
    const name = matchAgent(agent);
    byAgent.set(agent, { name });
    return name;
  }

  return {
    clients,
    find: (name) => byName.get(name),
    nameOf({ label, application, fingerprint, userAgent }) {
      return (
        byName.get(label ?? "")?.name ??
        byApplication.get(application ?? "") ??
        byToken.get(fingerprint ?? "") ??
        (patterns.length > 0 && userAgent ? nameOfAgent(userAgent) : undefined)
      );
    },
  };
}

/** The file of `CLIENTS_FILE`. */
export const CLIENTS_FILE: OperatorFileKind<DirectoryDefinition, ClientDirectory> = {
  schema: directoryDefinition,
  compile: compileDirectory,
};

/** The directory if there is no file. */
export const NO_CLIENTS: ClientDirectory = { clients: [], nameOf: () => undefined, find: () => undefined };
