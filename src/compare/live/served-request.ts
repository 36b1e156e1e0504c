/** A request that one side serves and that may be compared, with its first answer and the old service's answer. */
import { namesMethod, readParameters, type Route } from "../../pack/index.ts";
import type {
  Asked,
  ComparedRequest,
  Exchange,
  NotComparableReason,
  SecondAnswer,
} from "../answers/comparison.ts";
import type { AlphaRequest, BodyStart, ForwardedExchange, Side } from "../../gateway/index.ts";
import { CLIENT_GONE } from "../../base/index.ts";
import { MAX_COMPARED_BYTES } from "../answers/compare-answers.ts";
import { type OldService, textHeaders } from "./ask-old-service.ts";
import { decodeBody } from "../../audit/index.ts";
import type { ComparedSides } from "./compared-sides.ts";

/** A request that may be compared. */
export interface ServedRequest {
  readonly request: AlphaRequest;
  readonly route: Route;
  /** The client's filter header; null without one. */
  readonly filter: string | null;
  /** The sender: a name of the directory, an application, or a fingerprint. Null without a token. */
  readonly client: string | null;
  /** Writes of these names of its client void the comparison. */
  readonly writers: readonly string[];
  /** Whose budget pays for it. */
  readonly payer: string;
  /** The sender as `Compared` defines it, as far as it is known by now. Undefined for a stranger. */
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

/** The request that both sides get. */
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

/** Whether the old service has done a write, or may have. A status of undefined says that it did not get the request. */
export const hasOldWritten = ({ forwarded: { upstreamStatus } }: ForwardedExchange): boolean =>
  upstreamStatus === null || (upstreamStatus !== undefined && upstreamStatus < 400);

/** The bytes of a body; undefined where it is too long, or a file. */
export async function wholeBody(start: BodyStart | undefined): Promise<Buffer | undefined> {
  if (!start) return Buffer.alloc(0);
  const { bytes, lack } = await start.decode(MAX_COMPARED_BYTES);
  return lack === undefined ? bytes : undefined;
}

/** The answer of the old service to a client, or why it can't be compared. */
export async function answerOf({ status, forwarded }: ForwardedExchange): Promise<Asked> {
  const { upstreamStatus, received, isComplete } = forwarded;
  if (status === CLIENT_GONE) return "client_gone";
  if (!received || typeof upstreamStatus !== "number") return "unreachable";
  if (!isComplete) return "unreadable";
  const body = await wholeBody(received);
  return body ? { status: upstreamStatus, headers: textHeaders(received.headers), body } : "size";
}

/** The answer of the translation to a client, or why it can't be compared. */
export function translatedAnswer({ outcome, context }: Exchange): Asked {
  const { status, response } = outcome;
  if (status === CLIENT_GONE) return "client_gone";
  if (response.file) return "size";
  // Rejections of the gateway, and fields that its plan removes, are not results of the translation.
  if (context.rejectedBy !== undefined || context.hiddenFields) return "limited";
  return { status: response.status, headers: response.headers, body: response.body };
}

/** The parameter of Rails, Laravel and Symfony. PHP reads the other spellings as the same name. */
const PARAMETER = /^\s*[_.[ ]method(?![\w-])/i;
/** The name of a member, or of a part of a form. */
const NAME = /(?<!\w)_method(?!\w)/i;
/** A character of a JSON text by its number. */
const ESCAPED = /\\u([0-9a-f]{4})/gi;

/** Some servers also separate parameters by semicolons. */
const hasParameter = (text: string): boolean =>
  [...readParameters(text.replaceAll(";", "&")).keys()].some((name) => PARAMETER.test(name));

/** Whether a request names another method, so that the old service may take a read for a write. */
export const overridesMethod = ({ headers, query }: Pick<AlphaRequest, "headers" | "query">): boolean =>
  Object.keys(headers).some(namesMethod) || (query !== "" && hasParameter(query));

/** Whether a body may name another method: a form, JSON, or a text that is not UTF-8, which others may read. */
export function bodyOverridesMethod(bytes: Buffer): boolean {
  const text = decodeBody({ bytes });
  if (text === undefined) return true;
  const plain = text.replaceAll(ESCAPED, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return NAME.test(plain) || hasParameter(text);
}

/** Why the old service gave no answer: a route returns only to a service that is well. */
const NO_ANSWER: ReadonlySet<string> = new Set(["timeout", "unreachable"]);

/** Creates the function that asks the old service for a comparison. The roll-out records its health. */
export const createOldAnswer = (
  service: Pick<OldService, "ask">,
  sides: Pick<ComparedSides, "beginOld" | "noteOld">,
): SecondAnswer<SideQuestion> => ({
  async ask({ served: { route, request, payer, provenBy }, body }) {
    const answer = await service.ask(request, payer, body, () => sides.beginOld(route.name, provenBy));
    const hasFailed = typeof answer === "string" ? NO_ANSWER.has(answer) : answer.status >= 500;
    const sender = provenBy();
    // Without a free connection it was not asked.
    if (answer !== "budget" && sender !== undefined) sides.noteOld(route.name, hasFailed, sender);
    return answer;
  },
});
