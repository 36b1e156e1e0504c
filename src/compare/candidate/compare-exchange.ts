/** Compares the answer of an exchange with that of another pack, over the same responses of v4. */
import { type RecordedBody, type RecordedCall, tryParse } from "../../audit/index.ts";
import { header, type RequestContext } from "../../gateway/index.ts";
import type { Pack, Route } from "../../pack/index.ts";
import type { AcceptedBy } from "../answers/accepted.ts";
import { type Finding, judgeOnce, notComparable } from "../answers/judge.ts";
import type { Exchange, SecondAnswer } from "../answers/second-answer.ts";
import type { Answer, Compared, ComparedSample } from "../answers/comparison.ts";

/** Another pack, as answers are compared with it. */
export interface OtherAnswers {
  readonly answer: SecondAnswer;
  /** Finds the accepted differences of the other pack. */
  readonly acceptedBy: AcceptedBy;
}

/**
 * What both answers mean, and the example that can be made of them. A difference is found once: the same responses of v4 always
 * have the same answer under one pack.
 *
 * @param made The pack that made the first answer, with its route
 */
export async function compareExchange(
  made: { readonly pack: Pack; readonly route: Route },
  exchange: Exchange,
  { answer, acceptedBy }: OtherAnswers,
): Promise<Finding & Pick<Compared, "source" | "sample">> {
  const source = "candidate";
  // A token that was issued to the client is issued once.
  if (made.route.tokens) return { source, ...notComparable("token") };
  const other = await answer.ask(exchange);
  if (typeof other === "string") return { source, ...notComparable(other) };
  const sample = sampleOf(made.pack, exchange, other);
  const finding = judgeOnce(made, sample, acceptedBy);
  return { source, ...finding, ...(finding.result !== "equal" && { sample }) };
}

/** A request and its answers, as an example of a difference is made of them. */
function sampleOf({ dialect }: Pack, { request, context, outcome }: Exchange, other: Answer): ComparedSample {
  const { method, path, query } = request;
  const { status, headers, body } = outcome.response;
  const name = dialect.client.filters?.header?.toLowerCase();
  const token = context.client?.credentials.token;
  return {
    method,
    path: query === "" ? path : `${path}?${query}`,
    filter: (name === undefined ? undefined : header(request, name)) ?? null,
    ...(context.body && { body: context.body.bytes }),
    old: { status, headers, body },
    new: other,
    calls: recordedCallsOf(context),
    tokens: [token, context.upstream?.v4Token].filter((each) => each !== undefined),
  };
}

/** The calls as records have them, and those that a cache answered. */
const recordedCallsOf = ({ upstream }: Pick<RequestContext, "upstream">): RecordedCall[] => [
  ...(upstream?.calls ?? []).map(({ response, ...call }) => ({
    ...call,
    ...(response && { response: toRecorded(response.bytes.toString()) }),
  })),
  ...(upstream?.cachedReads ?? []).map(({ path, json }) => ({
    method: "GET",
    path,
    filter: null,
    status: 200,
    response: json,
    ms: 0,
  })),
];

function toRecorded(text: string): RecordedBody {
  const parsed = tryParse(text);
  return parsed ? parsed.value : text;
}
