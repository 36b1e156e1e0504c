import type { AcceptedDifference } from "../../pack/index.ts";
import type {
  AlphaRequest,
  RequestContext,
  RequestOutcome,
  UpstreamCallRecord,
} from "../../gateway/index.ts";

/**
 * The response that is compared with the client's response to the same request: that of a different pack for the same
 * v4 responses (`candidate`), or that of the old service (`legacy`).
 */
export type ComparisonSource = "candidate" | "legacy";

/** A whole response to a client, before redaction. It is only kept in memory. */
export interface Answer {
  readonly status: number;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as sent. */
  readonly body: Buffer;
}

/**
 * The way in which two responses differ in one field. `missing` and `added`: only one side has the field. `null`: one
 * side is null. `type`: the JSON types differ. `format`: the type is the same, but digits, zone, precision or letter case
 * differ. `order`: the rows of a list are the same, but their order differs. `row`: only one side has a row of a list.
 */
export type DifferenceKind = AcceptedDifference["kind"];

/** One difference. */
export interface Difference {
  /**
   * Path in the body without indexes, cut after 300 characters: `vms.label`, `page`; empty for the whole body. For the
   * kind `status` it is `status`, and for a header `header x-total`.
   */
  readonly field: string;
  readonly kind: DifferenceKind;
  /** The value as JSON, cut after 2000 characters. Undefined if the side has none. Before redaction. */
  readonly old: string | undefined;
  readonly new: string | undefined;
}

/** The key of a line of accepted differences. */
export const lineKey = ({ field, kind }: Pick<Difference, "field" | "kind">): string => `${kind} ${field}`;

/** The result of a comparison. */
export type ComparisonResult =
  | "equal"
  /** Confirmed: the same difference was found twice. */
  | "different"
  /** The old service's own responses vary, or the difference was not found again. */
  | "unstable"
  /** All differences are accepted ones of the pack. */
  | "accepted"
  | "not_comparable";

/** The reason why two responses can't be compared. */
export type NotComparableReason =
  /** The other pack would make different calls. */
  | "calls"
  /** The request contains an opaque cursor. */
  | "cursor"
  /** A write of the same client was in flight or too recent. */
  | "write"
  /** The old service does not accept a token that the gateway issued. */
  | "token"
  /** The response was a 5xx. */
  | "failed"
  /** The response was a 429, or had the status that the pack defines for it. */
  | "limited"
  | "timeout"
  /** A body exceeds the limit. */
  | "size"
  /** A body is not JSON, or ended early. */
  | "unreadable"
  /** There is no response: the connection was refused or reset. */
  | "unreachable"
  /** The client disconnected. */
  | "client_gone"
  /** A budget was used up: the queue, the memory, or the calls per second. */
  | "budget";

/** The result of one comparison. */
export interface Compared {
  readonly source: ComparisonSource;
  /**
   * The subject of a comparison: the hashes of both packs, `ACTIVE CANDIDATE`, or the hash of the pack with the `data`
   * of ROLLOUT_FILE. A new subject resets the counts.
   */
  readonly subject: string;
  /** Name of the route, as in records. */
  readonly route: string;
  /**
   * The client's name in the directory, otherwise the application's id, otherwise the fingerprint; null if there is no
   * token.
   */
  readonly client: string | null;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The `X-Request-Id`. */
  readonly requestId: string;
  readonly result: ComparisonResult;
  /** Only set for `not_comparable`. */
  readonly reason?: NotComparableReason;
  /**
   * The proven owner of a case. Only a limited number of a client's cases is counted. Undefined: the owner is unknown,
   * and the case proves nothing.
   */
  readonly provenBy?: string | undefined;
  /**
   * Hash of the route, the normalized request and the old response: equal keys prove one case. Undefined if nothing was
   * compared, or if both services refuse the request.
   */
  readonly key: string | undefined;
  /** For `different` and `unstable`: the differences that the pack does not accept. */
  readonly differences: readonly Difference[];
  /** Fields and kinds that the pack's `accepted-differences.yaml` covers, regardless of the result. Default: none. */
  readonly accepted?: readonly Pick<Difference, "field" | "kind">[];
  /** The body of the old response, from which coverage is counted. It is not stored. */
  readonly answer?: Buffer;
  /** The request and both responses, for an example; missing if the result is `equal`. */
  readonly sample?: ComparedSample;
}

/** A request whose responses are compared. */
export interface ComparedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** The client's filter header. Null if missing. */
  readonly filter: string | null;
}

/** Two responses to the same request. */
export interface AnswerPair {
  readonly old: Answer;
  readonly new: Answer;
}

/** The material of an example, before redaction. */
export interface ComparedSample extends ComparedRequest, AnswerPair {
  /** The body of the request, if it has one. */
  readonly body?: Buffer;
  /** The upstream calls whose responses led to these responses. Missing if they are unknown. */
  readonly calls?: readonly UpstreamCallRecord[];
  /** The client's token and the upstream's: all their occurrences are removed. */
  readonly tokens?: readonly string[];
}

/** Receives the results of comparisons. Never throws, and never waits. */
export type ReportComparison = (compared: Compared) => void;

/** A request, and its outcome. */
export interface Exchange {
  readonly request: AlphaRequest;
  readonly outcome: RequestOutcome;
  readonly context: RequestContext;
}

/** A response, or the reason why it is missing. */
export type Asked = Answer | NotComparableReason;

/**
 * A source of second responses: a different pack for the same responses of v4, live or recorded; the old service; or
 * the translation, with new calls to v4.
 *
 * @template Served What is known about the request when its second response is requested
 */
export interface SecondAnswer<Served = Exchange> {
  /** The comparisons that use the response. */
  readonly source: ComparisonSource;
  /** Returns the second response. Never rejects. */
  ask(exchange: Served): Promise<Asked>;
}
