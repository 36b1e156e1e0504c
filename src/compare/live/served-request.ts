/** A request on one side that may be compared, with the response of that side and of the old service. */
import { namesMethod, readParameters, type Route } from "../../pack/index.ts";
import type { Answer, Asked, ComparedRequest, Exchange, NotComparableReason } from "../answers/comparison.ts";
import type { AlphaRequest, BodyStart, ForwardedExchange, Side } from "../../gateway/index.ts";
import { CLIENT_GONE } from "../../base/index.ts";
import { MAX_COMPARED_BYTES } from "../answers/compare-answers.ts";
import { decodeBody } from "../../audit/index.ts";

/** A request that may be compared. */
export interface ServedRequest {
  readonly request: AlphaRequest;
  readonly route: Route;
  /** The client's filter header; null without one. */
  readonly filter: string | null;
  /** The sender: a name in the directory, an application, or a fingerprint. Null if there is no token. */
  readonly client: string | null;
  /** The client's names. Writes under these names invalidate the comparison. */
  readonly writers: readonly string[];
  /** The sender whose budget is used. */
  readonly payer: string;
  /** Returns the sender as in `Compared`, with the current knowledge. Undefined for an unknown sender. */
  readonly provenBy: () => string | undefined;
  readonly side: Side;
  /** Whether all reads of this client are compared instead of a share of them, because it was moved recently. */
  readonly isFresh: boolean;
  /** The client's token, which must not occur in examples; undefined if missing. */
  readonly token: string | undefined;
  /** The reason why this request can't be compared, if it is already known. */
  readonly obstacle: NotComparableReason | undefined;
}

/** A request for one of the sides. */
export interface AskedRequest extends Pick<ServedRequest, "request" | "route" | "payer" | "provenBy"> {
  /** The body of a POST that only reads; undefined for a GET. */
  readonly body: Buffer | undefined;
}

/** Returns the request that is sent to both sides. */
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

/** Whether the old service has executed a write, or may have. An undefined status means that it did not receive the request. */
export const hasOldWritten = ({ forwarded: { upstreamStatus } }: ForwardedExchange): boolean =>
  upstreamStatus === null || (upstreamStatus !== undefined && upstreamStatus < 400);

/** Returns the bytes of a body; undefined if it is too long, or a file. */
export async function wholeBody(start: BodyStart | undefined): Promise<Buffer | undefined> {
  if (!start) return Buffer.alloc(0);
  const { bytes, lack } = await start.decode(MAX_COMPARED_BYTES);
  return lack === undefined ? bytes : undefined;
}

/** Returns the headers of a response, with one text each. */
export const textHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Answer["headers"] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]));

/** Returns the old service's response to a client, or the reason why it can't be compared. */
export async function answerOf({ status, forwarded }: ForwardedExchange): Promise<Asked> {
  const { upstreamStatus, received, isComplete } = forwarded;
  if (status === CLIENT_GONE) return "client_gone";
  if (!received || typeof upstreamStatus !== "number") return "unreachable";
  if (!isComplete) return "unreadable";
  const body = await wholeBody(received);
  return body ? { status: upstreamStatus, headers: textHeaders(received.headers), body } : "size";
}

/** Returns the translation's response to a client, or the reason why it can't be compared. */
export function translatedAnswer({ outcome, context }: Exchange): Asked {
  const { status, response } = outcome;
  if (status === CLIENT_GONE) return "client_gone";
  if (response.file) return "size";
  // Rejections of the gateway, and removals of fields by its plan, are not results of the translation.
  if (context.rejectedBy !== undefined || context.hiddenFields) return "limited";
  return { status: response.status, headers: response.headers, body: response.body };
}

/** Matches the method parameter of Rails, Laravel and Symfony. PHP reads the other spellings as the same name. */
const PARAMETER = /^\s*[_.[ ]method(?![\w-])/i;
/** Matches the name of a member, or of a part of a form. */
const NAME = /(?<!\w)_method(?!\w)/i;
/** Matches an escaped character of a JSON text. */
const ESCAPED = /\\u([0-9a-f]{4})/gi;

/** Whether a text contains the parameter. Some servers also separate parameters by semicolons. */
const hasParameter = (text: string): boolean =>
  [...readParameters(text.replaceAll(";", "&")).keys()].some((name) => PARAMETER.test(name));

/** Whether a request contains a second method, so that the old service may treat a read as a write. */
export const overridesMethod = ({ headers, query }: Pick<AlphaRequest, "headers" | "query">): boolean =>
  Object.keys(headers).some(namesMethod) || (query !== "" && hasParameter(query));

/** Whether a body may contain a second method: a form, JSON, or a text that is not UTF-8, which other servers may accept. */
export function bodyOverridesMethod(bytes: Buffer): boolean {
  const text = decodeBody({ bytes });
  if (text === undefined) return true;
  const plain = text.replaceAll(ESCAPED, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return NAME.test(plain) || hasParameter(text);
}
