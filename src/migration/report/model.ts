/** The migration report as data. HTML, Markdown, JSON and CSV are written from it. */
import {
  agentsText,
  type ClientGroup,
  type DayUsage,
  type GroupToken,
  type LossSummary,
  type MigrationState,
  type RankedLoss,
  UNACCEPTED,
} from "../../audit/index.ts";
import type { FieldClass, ApiNames } from "../../pack/index.ts";

/** A value with different words in alpha and v4. */
export interface ValuePair {
  readonly alpha: string;
  readonly v4: string;
}

/** A field that is different in alpha and v4. */
export interface FieldChange {
  /** The path in alpha, with dots. */
  readonly field: string;
  /** The path in v4; null if it is not a single field. */
  readonly v4: string | null;
  readonly class: FieldClass;
  /** The changes, in sentences with code in backticks. */
  readonly change: string;
  /** Values with different words; empty without a table of values. */
  readonly values: readonly ValuePair[];
  /** How alpha's value was computed (JSONata on the v4 object), or null. */
  readonly formula: string | null;
  /** The text about values that alpha could not represent, or null. */
  readonly loss: string | null;
}

/** An object in responses, with its fields that change. */
export interface ObjectChanges {
  readonly object: string;
  /** The number of fields that are the same in alpha and v4. */
  readonly same: number;
  readonly fields: readonly FieldChange[];
}

/** A command, and why it is needed; the reason is empty for the main call. */
export interface Command {
  readonly why: string;
  readonly curl: string;
}

/**
 * The replacement of an alpha call. `call`: a v4 call. `unneeded`: nothing, since v4 does it automatically. `none`: nothing,
 * since v4 has no counterpart. `unknown`: the active pack does not have the route.
 */
export type Counterpart = "call" | "unneeded" | "none" | "unknown";

/** A route that a client calls, and what replaces it. */
export interface CallGuide {
  /** The name in the pack. */
  readonly route: string;
  /** The v4 calls in order, `GET /path/{id}`; empty if there are none. */
  readonly v4: readonly string[];
  readonly counterpart: Counterpart;
  /** Why there is no counterpart, or null. */
  readonly reason: string | null;
  readonly requests: number;
  /** Requests by the status of the response, the most frequent first. */
  readonly statuses: readonly { readonly status: number; readonly requests: number }[];
  /** Requests whose response lost something. */
  readonly lossy: number;
  /** The time of the last request, ISO 8601. */
  readonly last: string;
  /** The scope that a token needs; null if it needs none. */
  readonly scope: { readonly alpha: string; readonly v4: string } | null;
  /** The id of the record behind the commands; null if they come from the pack, because no record is left. */
  readonly record: string | null;
  readonly before: string;
  readonly after: readonly Command[];
  /** Members of the body that change. */
  readonly sends: readonly FieldChange[];
  /** v4 members that the gateway added, and that the client must send itself. */
  readonly adds: readonly string[];
  /** Fields of filters that change. */
  readonly filters: readonly FieldChange[];
  /** The names of the objects in the response. */
  readonly gets: readonly string[];
  /** The extra steps of the gateway, which the client must do itself or do without. */
  readonly notes: readonly string[];
}

/** The members of a client that the report takes from the summaries. */
export const COUNTED = [
  "id",
  "client",
  "name",
  "family",
  "tokens",
  "userAgent",
  "otherAgents",
  "first",
  "last",
  "lastAlpha",
  "requests",
  "native",
  "errors",
  "lossy",
  "cameBack",
] as const satisfies readonly (keyof ClientGroup)[];

/** The guide of one client, created from its own requests. */
export interface ClientGuide extends Pick<ClientGroup, (typeof COUNTED)[number]> {
  /** Its tokens if there are several, those with the most requests of all days first. */
  readonly members: readonly GroupToken[];
  /** Null for requests without a token and for tokens that v4 never accepted. */
  readonly readiness: MigrationState | null;
  /** The longest pause between alpha calls so far, in milliseconds, if it is longer than the quiet time; else null. */
  readonly longerPauseMs: number | null;
  /** The smallest scopes for these calls, in alpha and in v4. */
  readonly scopes: { readonly alpha: readonly string[]; readonly v4: readonly string[] };
  /** The most used first. */
  readonly calls: readonly CallGuide[];
  /** Its losses, by weight and by requests. */
  readonly losses: readonly LossSummary[];
  /** Alpha requests to paths that alpha never had. */
  readonly unmatched: number;
  /** Objects in responses that change. */
  readonly objects: readonly ObjectChanges[];
}

/** A difference in all calls. */
export interface Difference {
  readonly what: string;
  readonly alpha: string;
  readonly v4: string;
}

export interface Totals {
  readonly requests: number;
  readonly native: number;
  readonly errors: number;
  readonly lossy: number;
  readonly clients: number;
  /** Clients that have called v4 and not alpha within the quiet time. */
  readonly done: number;
  /** Clients without any request within the quiet time. */
  readonly silent: number;
  /** Different alpha routes in use. */
  readonly calls: number;
}

/** A name at the start of a sentence. One with a number, such as `v4`, stays as it is. */
export const capitalize = (name: string): string =>
  /\d/.test(name) ? name : name.charAt(0).toUpperCase() + name.slice(1);

export interface Report {
  readonly names: ApiNames;
  /** ISO 8601. */
  readonly made: string;
  /** Days without a request after which a client counts as quiet. */
  readonly quietDays: number;
  /** The time span of the query: ISO 8601, whole days in UTC; null: unlimited. */
  readonly since: string | null;
  readonly until: string | null;
  readonly totals: Totals;
  /** Days with requests, in order. */
  readonly days: readonly DayUsage[];
  /** The losses, by weight and by requests, with the clients that had them. */
  readonly losses: readonly RankedLoss[];
  readonly everyCall: readonly Difference[];
  /** The clients with the most calls to change first. */
  readonly clients: readonly ClientGuide[];
  /** Whether the report is too large: it lacks the least used calls. */
  readonly cut: boolean;
}

/** Whether a row of the report is a client: requests without a token, and tokens that v4 never took, are nobody's. */
export const isClient = ({ readiness }: Pick<ClientGuide, "readiness">): boolean => readiness !== null;

/** Whether a call shows that its route is in use. What strangers were refused does not: scanners try every path. */
export const isUse = (
  { client }: Pick<ClientGuide, "client">,
  { statuses }: Pick<CallGuide, "statuses">,
): boolean => client !== UNACCEPTED || statuses.some(({ status }) => status < 400);

/** Whether a client has finished: a client that only fell silent may come back. */
export const isDone = (readiness: MigrationState | null): boolean => readiness === "ready";

/** The name of a client: that of the client directory, else its user agent, or the family of its user agents. */
export const clientName = ({
  name,
  family = null,
  client,
  ...agents
}: Pick<ClientGuide, "name" | "userAgent" | "otherAgents" | "client"> &
  Partial<Pick<ClientGuide, "family">>): string =>
  client === UNACCEPTED
    ? "Tokens that were never accepted"
    : (name ??
      (family === "" ? "No user agent" : family) ??
      agentsText(agents) ??
      (client === null ? "Requests without a token" : `Client ${client}`));
