/** What the answers of two packs to one request mean. */
import { tryParse } from "../../audit/json-text.ts";
import type { RecordedBody, RecordedCall } from "../../audit/record.ts";
import type { Route } from "../../mapping/compile/route.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { AcceptedBy } from "../../parity/accepted.ts";
import { compareAnswers, createAnswerRules } from "../../parity/compare-answers.ts";
import type {
  Answer,
  Compared,
  ComparedSample,
  Difference,
  NotComparableReason,
} from "../../parity/comparison.ts";
import { distinctKey } from "../../parity/distinct-key.ts";
import { VolatileFields } from "../../parity/volatile-fields.ts";
import { header, type AlphaResponse, type RequestContext } from "../../pipeline/context.ts";
import type { Exchange } from "./translate-again.ts";

const toAnswer = ({ status, headers, body }: AlphaResponse): Answer => ({ status, headers, body });

/** A candidate that fails where the active pack does not is a difference: v4 has responded. */
const failure = (old: Answer, other: Answer): readonly Difference[] | undefined =>
  other.status >= 500 && old.status < 500
    ? [{ field: "status", kind: "status", old: String(old.status), new: String(other.status) }]
    : undefined;

const NOTHING_VOLATILE = new VolatileFields();

/** The request as an example has it. */
function sampleOf({ dialect }: Pack, { request, context }: Exchange): Omit<ComparedSample, "old" | "new"> {
  const { method, path, query } = request;
  const name = dialect.client.filters?.header?.toLowerCase();
  const token = context.client?.credentials.token;
  return {
    method,
    path: query === "" ? path : `${path}?${query}`,
    filter: (name === undefined ? undefined : header(request, name)) ?? null,
    ...(context.body && { body: context.body.bytes }),
    calls: recordedCallsOf(context),
    tokens: [token, context.upstream?.v4Token].filter((each) => each !== undefined),
  };
}

/** The calls as records have them. */
const recordedCallsOf = ({ upstream }: RequestContext): RecordedCall[] =>
  (upstream?.calls ?? []).map(({ response, ...call }) => ({
    ...call,
    ...(response && { response: toRecorded(response.bytes.toString()) }),
  }));

function toRecorded(text: string): RecordedBody {
  const parsed = tryParse(text);
  return (parsed ? parsed.value : text) as RecordedBody;
}

/** Compares the answer that a client got with another one. @param pack that answered */
export function judgeAnswer(
  pack: Pack,
  route: Route,
  exchange: Exchange,
  response: AlphaResponse,
  acceptedBy: AcceptedBy,
):
  | { readonly reason: NotComparableReason }
  | Pick<Compared, "result" | "key" | "differences" | "accepted" | "answer" | "sample"> {
  const old = toAnswer(exchange.outcome.response);
  const answer = toAnswer(response);
  const request = sampleOf(pack, exchange);
  const failed = failure(old, answer);
  const compared = failed
    ? { differences: failed }
    : compareAnswers(old, answer, createAnswerRules(pack, route, request));
  if ("reason" in compared) return compared;
  const key = distinctKey({ route }, request, old, NOTHING_VOLATILE);
  const common = { key, answer: old.body };
  if (compared.differences.length === 0) return { ...common, result: "equal", differences: [] };
  const now = Date.now();
  const isAcceptable = (each: Difference): boolean => acceptedBy(route.name, each, now) !== undefined;
  const [accepted = [], differences = []] = [true, false].map((wanted) =>
    compared.differences.filter((each) => isAcceptable(each) === wanted),
  );
  return {
    ...common,
    result: differences.length > 0 ? "different" : "accepted",
    differences,
    accepted,
    sample: { ...request, old, new: answer },
  };
}
