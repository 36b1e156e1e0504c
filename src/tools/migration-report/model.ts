/** The migration report as data: what every form of it (HTML, Markdown, JSON, CSV) is written from. */
import type { DayUsage } from "../../audit/usage.ts";
import type { FieldClass } from "../../mapping/summary.ts";

/** A value that both sides have under different words. */
export interface ValuePair {
  readonly alpha: string;
  readonly v4: string;
}

/** A field that does not mean the same on both sides. */
export interface FieldChange {
  /** In alpha, dotted where it is nested. */
  readonly field: string;
  /** In v4; null where no single field is it. */
  readonly v4: string | null;
  readonly class: FieldClass;
  /** What changes, in sentences; code in them stands in backticks. */
  readonly change: string;
  /** Values that are called otherwise; empty where there is no table of them. */
  readonly values: readonly ValuePair[];
  /** How alpha's value was computed (JSONata over v4's object), or null. */
  readonly formula: string | null;
  /** What alpha could not show of v4, or null. */
  readonly loss: string | null;
}

/** An object that answers show, with those of its fields that change. */
export interface ObjectChanges {
  readonly object: string;
  /** Fields that are the same on both sides. */
  readonly same: number;
  readonly fields: readonly FieldChange[];
}

/** One command to type, and what it is for; an empty reason is the call itself. */
export interface Command {
  readonly why: string;
  readonly curl: string;
}

/**
 * What becomes of a call: `call` is replaced by a v4 call, `unneeded` can be left out, since v4 does by itself
 * what it asked for, `none` has no counterpart, and `unknown` is no route of today's pack.
 */
export type Counterpart = "call" | "unneeded" | "none" | "unknown";

/** One route that a client calls, and what it calls instead. */
export interface CallGuide {
  /** As the pack names it. */
  readonly route: string;
  /** v4's calls in their order, `GET /path/{id}`; empty where there is none. */
  readonly v4: readonly string[];
  readonly counterpart: Counterpart;
  /** Why there is no counterpart, or null. */
  readonly reason: string | null;
  readonly requests: number;
  /** Requests by the status that was told, the most frequent first. */
  readonly statuses: readonly { readonly status: number; readonly requests: number }[];
  /** Requests whose answer could not keep something. */
  readonly lossy: number;
  /** ISO 8601, of the last one. */
  readonly last: string;
  /** What a token needs for it; null where it needs nothing, or any token will do. */
  readonly scope: { readonly alpha: string; readonly v4: string } | null;
  /** The record that the commands were made from; null where none is left, and they were made from the pack. */
  readonly record: string | null;
  readonly before: string;
  readonly after: readonly Command[];
  /** Members of its body that change. */
  readonly sends: readonly FieldChange[];
  /** v4 members that the gateway put in by itself, and that the client has to send from now on. */
  readonly adds: readonly string[];
  /** Fields of its filters that change. */
  readonly filters: readonly FieldChange[];
  /** Objects in its answer, by their names. */
  readonly gets: readonly string[];
  /** What the gateway did besides, that the client has to do or to bear from now on. */
  readonly notes: readonly string[];
}

/** How far a client is (see `readiness.ts`). */
export type Readiness = "not begun" | "moving" | "ready" | "silent";

/** The guide of one client, made from its own traffic. */
export interface ClientGuide {
  /** The token's fingerprint; null: all requests without a token. */
  readonly client: string | null;
  /** Of its last request. */
  readonly userAgent: string | null;
  readonly first: string;
  readonly last: string;
  /** Its last request in alpha; null where it made none. */
  readonly lastAlpha: string | null;
  readonly requests: number;
  readonly native: number;
  /** Requests answered with 400 or above. */
  readonly errors: number;
  readonly lossy: number;
  readonly readiness: Readiness;
  /** The least that its v4 token needs for these calls, and what alpha called that. */
  readonly scopes: { readonly alpha: readonly string[]; readonly v4: readonly string[] };
  /** The most used first. */
  readonly calls: readonly CallGuide[];
  /** Requests in alpha to addresses that alpha never had. */
  readonly unmatched: number;
  /** Objects that its answers show, where they change. */
  readonly objects: readonly ObjectChanges[];
}

/** Something that differs in every call. */
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
  /** Clients that no longer speak alpha. */
  readonly done: number;
  /** Different alpha calls that clients which do make. */
  readonly calls: number;
}

export interface Report {
  /** ISO 8601. */
  readonly made: string;
  /** What was asked for: ISO 8601, whole days (UTC); null: since the beginning, until now. */
  readonly since: string | null;
  readonly until: string | null;
  readonly totals: Totals;
  /** Days with requests, in their order. */
  readonly days: readonly DayUsage[];
  readonly everyCall: readonly Difference[];
  /** Those who have most to do first. */
  readonly clients: readonly ClientGuide[];
  /** Whether there is more than a report holds; the least used calls are left out then. */
  readonly cut: boolean;
}
