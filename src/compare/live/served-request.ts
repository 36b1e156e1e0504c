/** A request that one side serves, and that may be compared. */
import type { Route } from "../../pack/index.ts";
import type { ComparedRequest, NotComparableReason } from "../answers/comparison.ts";
import type { AlphaRequest, Side } from "../../gateway/index.ts";

/** A request that may be compared. */
export interface ServedRequest {
  readonly request: AlphaRequest;
  readonly route: Route;
  /** The client's filter header; null without one. */
  readonly filter: string | null;
  /** Who sent it: a name of the directory, an application, or a fingerprint; null without a token. */
  readonly client: string | null;
  /** Whose writes void the comparison: all names of its client. */
  readonly writers: readonly string[];
  /** Whose budget pays for it. */
  readonly payer: string;
  /** Who has sent it, as far as somebody knows by now: see `KnownSenders`. */
  readonly knownAs: () => string | undefined;
  /** The same, as `Compared` says, as far as somebody knows by now; undefined: a stranger. */
  readonly provenBy: () => string | undefined;
  readonly side: Side;
  /** Whether all reads of this client are compared, not a share of them: it was turned a moment ago. */
  readonly isFresh: boolean;
  /** The client's token, which no example may have; undefined without one. */
  readonly token: string | undefined;
  /** Why this request can't be compared, where that is known already. */
  readonly obstacle: NotComparableReason | undefined;
}

/** A request for one of the sides. */
export interface SideQuestion {
  readonly served: ServedRequest;
  /** The body of a POST that only reads; undefined for a GET. */
  readonly body: Buffer | undefined;
}

/** What both sides are asked. */
export const targetOf = ({
  request: { method, path, query },
  route,
  filter,
}: ServedRequest): ComparedRequest & Pick<ServedRequest, "route"> => ({
  method,
  path: query === "" ? path : `${path}?${query}`,
  filter,
  route,
});
