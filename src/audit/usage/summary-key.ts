/** Under which key a request is counted in the summaries: as one client. */

/**
 * All tokens that v4 has not accepted count as one client, so that invented tokens create no clients. When v4 accepts a
 * token, its earlier requests are moved to its client.
 */
export const UNACCEPTED = "unaccepted";

const LABEL = "label:";
const APPLICATION = "application:";

/** The key of a client that a trusted proxy has named. */
export const labelKey = (label: string): string => `${LABEL}${label}`;

/** The key of an application: all its tokens are one client. */
export const applicationKey = (application: string): string => `${APPLICATION}${application}`;

/** Whether a key is one of a label or of an application. Others are fingerprints of tokens, `UNACCEPTED` and `""`. */
export const isNamedKey = (key: string): boolean => key.startsWith(LABEL) || key.startsWith(APPLICATION);

/** The facts about a client in its key. */
export const identityOfKey = (
  key: string | null,
): {
  readonly label: string | null;
  readonly application: string | null;
  readonly fingerprint: string | null;
} => ({
  label: key?.startsWith(LABEL) ? key.slice(LABEL.length) : null,
  application: key?.startsWith(APPLICATION) ? key.slice(APPLICATION.length) : null,
  fingerprint: key === null || key === UNACCEPTED || isNamedKey(key) ? null : key,
});

/** The facts that decide the key of a request. */
export interface Sender {
  /** The fingerprint of the token. */
  readonly client: string | null;
  /** Whether v4 has accepted the client's token, or the login server the application. */
  readonly accepted: boolean;
  /** The key of its label, else of its application. */
  readonly sender?: string | undefined;
}

/** The store's knowledge about the senders of a commit. */
export interface KnownSenders {
  /** The keys of tokens that v4 has accepted, by their fingerprints. */
  readonly tokens: ReadonlyMap<string, string>;
  /** The keys of applications that have been accepted. */
  readonly applications: ReadonlySet<string>;
}

/**
 * Returns the key of a request, where null would be part of a key as `""`: the label if there is one, else the
 * application, else the token. Anybody can send the id of an application with a call to the login server, and any token: a
 * call without a token counts for the application only if the login server has accepted it in this call, and a token once
 * v4 has.
 *
 * A token keeps the key that it had with a label or an application, for requests without them: the state store may
 * have been down.
 */
export function summaryKey(
  { client, accepted, sender }: Sender,
  { tokens, applications }: KnownSenders,
): string {
  if (sender !== undefined && (accepted || sender.startsWith(LABEL))) return sender;
  if (client === null) return "";
  // The application has its token from the gateway.
  if (sender !== undefined && applications.has(sender)) return sender;
  return tokens.get(client) ?? (accepted ? client : UNACCEPTED);
}

/**
 * A row of a commit, and the key under which it is counted. `sender` is the key of a label or an application by which its record
 * is found: that key, or that of an application which the record only names, once that has been accepted.
 */
export type Keyed<Row extends Sender> = Row & { readonly key: string };

/** The rows of a commit with their keys. */
export interface KeyedRows<Row extends Sender> {
  readonly rows: readonly Keyed<Row>[];
  /** The new keys of tokens whose requests were counted under their fingerprints. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Of all tokens of the commit that v4 has accepted, by their fingerprints. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** The senders of a commit, as they have to be looked up in a store. */
export const sendersOf = (
  rows: readonly Sender[],
): { readonly tokens: readonly string[]; readonly applications: readonly string[] } => ({
  tokens: [...new Set(rows.flatMap(({ client }) => client ?? []))],
  applications: [
    ...new Set(rows.flatMap(({ sender, accepted }) => (sender === undefined || accepted ? [] : sender))),
  ],
});

/** Decides which rows of a commit have accepted senders, and under which keys they are counted. */
export function keyRows<Row extends Sender>(rows: readonly Row[], known: KnownSenders): KeyedRows<Row> {
  const tokens = new Map(known.tokens);
  const applications = new Set(known.applications);
  for (const { client, accepted, sender } of rows) {
    if (!accepted) continue;
    if (sender !== undefined) applications.add(sender);
    if (client !== null && (sender !== undefined || !tokens.has(client)))
      tokens.set(client, sender ?? client);
  }
  const keyed = rows.map((row) => {
    const key = summaryKey(row, { tokens, applications });
    const named = applications.has(row.sender ?? "") ? row.sender : undefined;
    return {
      ...row,
      accepted: row.accepted || (row.client !== null && tokens.has(row.client)),
      key,
      sender: isNamedKey(key) ? key : named,
    };
  });
  const isRenamed = ([client, key]: readonly [string, string]): boolean =>
    key !== client && (known.tokens.get(client) ?? client) === client;
  return { rows: keyed, renamed: new Map([...tokens].filter(isRenamed)), tokens };
}
