/** Parts of the migration report, as data. */
import { agentsText, type ClientGroup, type MigrationState, UNACCEPTED } from "../../audit/index.ts";
import type { FieldClass } from "../../pack/index.ts";

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
  /** Values with different words; empty if there is no table of values. */
  readonly values: readonly ValuePair[];
  /** The formula of alpha's value (JSONata on the v4 object), or null. */
  readonly formula: string | null;
  /** The text about values that alpha could not represent, or null. */
  readonly loss: string | null;
}

/** An object in responses, with its fields that change. */
export interface ObjectChanges {
  readonly object: string;
  /** Number of fields that are the same in alpha and v4. */
  readonly same: number;
  readonly fields: readonly FieldChange[];
}

/** A command, and the reason why it is needed, which is empty for the main call. */
export interface Command {
  readonly why: string;
  readonly curl: string;
}

/**
 * The replacement of an alpha call. `call`: a v4 call. `unneeded`: none, since v4 does it automatically. `none`: none,
 * since v4 has no counterpart. `unknown`: the active pack does not contain the route.
 */
export type Counterpart = "call" | "unneeded" | "none" | "unknown";

/** A difference that affects all calls. */
export interface Difference {
  readonly what: string;
  readonly alpha: string;
  readonly v4: string;
}

/** Capitalizes a name for the start of a sentence. A name with a number, such as `v4`, stays unchanged. */
export const capitalize = (name: string): string =>
  /\d/.test(name) ? name : name.charAt(0).toUpperCase() + name.slice(1);

/**
 * Whether a row of the report is a client. Requests without a token, and tokens that v4 never accepted, belong to no
 * client.
 */
export const isClient = ({ readiness }: { readonly readiness: MigrationState | null }): boolean =>
  readiness !== null;

/**
 * Whether a call shows that its route is in use. Rejected calls of unaccepted senders don't, because scanners try every
 * path.
 */
export const isUse = (
  { client }: Pick<ClientGroup, "client">,
  { statuses }: { readonly statuses: readonly { readonly status: number }[] },
): boolean => client !== UNACCEPTED || statuses.some(({ status }) => status < 400);

/** Whether a client has finished its migration. A client that is only silent may come back. */
export const isDone = (readiness: MigrationState | null): boolean => readiness === "ready";

/** Returns the name of a client: from the client directory, otherwise its user agent, or the family of its user agents. */
export const clientName = ({
  name,
  family = null,
  client,
  ...agents
}: Pick<ClientGroup, "name" | "userAgent" | "otherAgents" | "client"> &
  Partial<Pick<ClientGroup, "family">>): string =>
  client === UNACCEPTED
    ? "Tokens that were never accepted"
    : (name ??
      (family === "" ? "No user agent" : family) ??
      agentsText(agents) ??
      (client === null ? "Requests without a token" : `Client ${client}`));
