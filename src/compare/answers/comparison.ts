import type {
  AlphaRequest,
  RequestContext,
  RequestOutcome,
  UpstreamCallRecord,
} from "../../gateway/index.ts";

/**
 * What is compared with the client's answer to the same request: that of another pack over the same responses of v4
 * (`candidate`), or that of the old service (`legacy`).
 */
export type ComparisonSource = "candidate" | "legacy";

/** A whole answer to a client, before redaction. It stays in memory. */
export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as it was sent. */
  readonly body: Buffer;
}

/** How two answers differ in one field. */
export type DifferenceKind =
  /** Only one side has the field. */
  | "missing"
  | "added"
  /** One side is null. */
  | "null"
  /** Another JSON type. */
  | "type"
  /** The same type in another format: digits, zone, precision, letter case. */
  | "format"
  | "value"
  /** The same rows of a list in another order. */
  | "order"
  /** A row of a list that only one side has. */
  | "row"
  | "status";

/** One difference. */
export interface Difference {
  /**
   * Path in the body without indexes, cut above 300 characters: `vms.label`, `page`; empty for the whole body. With the
   * kind `status` it is `status`, and of a header `header x-total`.
   */
  readonly field: string;
  readonly kind: DifferenceKind;
  /** As JSON, cut above 2000 characters. Undefined if the side has none. Before redaction. */
  readonly old: string | undefined;
  readonly new: string | undefined;
}

/** The key of a line of accepted differences. */
export const lineKey = ({ field, kind }: Pick<Difference, "field" | "kind">): string => `${kind} ${field}`;

/** How a comparison ended. */
export type ComparisonResult =
  | "equal"
  /** Confirmed: the same difference was found twice. */
  | "different"
  /** The old side varies by itself, or the difference was not found again. */
  | "unstable"
  /** All differences are accepted ones of the pack. */
  | "accepted"
  | "not_comparable";

/** Why two answers can't be compared. */
export type NotComparableReason =
  /** Another pack would make other calls. */
  | "calls"
  /** Pages by an opaque cursor. */
  | "cursor"
  /** A write of the same client was in flight or too recent. */
  | "write"
  /** The old service does not know a token that the gateway has issued. */
  | "token"
  /** A 5xx. */
  | "failed"
  /** 429, or the status that the pack has for it. */
  | "limited"
  | "timeout"
  /** A body above the cap. */
  | "size"
  /** A body that is no JSON, or broke off. */
  | "unreadable"
  /** No answer: connection refused or reset. */
  | "unreachable"
  /** The client went away. */
  | "client_gone"
  /** Budgets: the queue, the memory, or the calls per second were used up. */
  | "budget";

/** The result of one comparison. */
export interface Compared {
  readonly source: ComparisonSource;
  /**
   * The subject of a comparison: the hashes of both packs, `ACTIVE CANDIDATE`, or the hash of the pack with the
   * `data` of ROLLOUT_FILE. A new subject resets the counts.
   */
  readonly subject: string;
  /** Name of the route, as in records. */
  readonly route: string;
  /** Name in the directory, else the application's id, else the fingerprint; null without a token. */
  readonly client: string | null;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The `X-Request-Id`. */
  readonly requestId: string;
  readonly result: ComparisonResult;
  /** With `not_comparable` alone. */
  readonly reason?: NotComparableReason;
  /**
   * The proven owner of a case. Only a part of a client's cases counts. Undefined: the owner is unknown, and the case
   * proves nothing.
   */
  readonly provenBy?: string | undefined;
  /**
   * Hash of route, normalised request and old answer: equal keys prove one case. Undefined where nothing was compared, and
   * where both services refuse the request.
   */
  readonly key: string | undefined;
  /** For `different` and `unstable`: the differences that the pack does not accept. */
  readonly differences: readonly Difference[];
  /** Fields and kinds that `accepted-differences.yaml` of the pack covers, whatever the result is. Default: none. */
  readonly accepted?: readonly Pick<Difference, "field" | "kind">[];
  /** The body of the old answer, from which coverage is counted. Not kept. */
  readonly answer?: Buffer;
  /** The request and both answers, for an example; left out where the result is `equal`. */
  readonly sample?: ComparedSample;
}

/** A request whose answers are compared. */
export interface ComparedRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** The client's filter header. Null without one. */
  readonly filter: string | null;
}

/** Two answers to the same request. */
export interface AnswerPair {
  readonly old: Answer;
  readonly new: Answer;
}

/** The material of an example, before redaction. */
export interface ComparedSample extends ComparedRequest, AnswerPair {
  /** The body of the request, if it has one. */
  readonly body?: Buffer;
  /** The calls to the upstream from whose responses the answers were made. Left out where they are unknown. */
  readonly calls?: readonly UpstreamCallRecord[];
  /** The client's token and the upstream's: they are removed wherever they occur. */
  readonly tokens?: readonly string[];
}

/** Takes the results of comparisons. Never throws, and never waits. */
export type ReportComparison = (compared: Compared) => void;

/** A request, and its outcome. */
export interface Exchange {
  readonly request: AlphaRequest;
  readonly outcome: RequestOutcome;
  readonly context: RequestContext;
}

/** An answer, or the reason why it is missing. */
export type Asked = Answer | NotComparableReason;

/**
 * A source of second answers: another pack over the same responses of v4, live or recorded; the old service; or the
 * translation, by new calls to v4.
 *
 * @template Question The known facts about the request
 */
export interface SecondAnswer<Question = Exchange> {
  /** Never rejects. */
  ask(question: Question): Promise<Asked>;
}
