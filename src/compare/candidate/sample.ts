/** A request and its answers, as an example of a difference is made of them. */
import { type RecordedBody, type RecordedCall, tryParse } from "../../audit/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Answer, ComparedSample } from "../counts/comparison.ts";
import { type AlphaResponse, header, type RequestContext } from "../../gateway/index.ts";
import type { Exchange } from "./translate-again.ts";

const toAnswer = ({ status, headers, body }: AlphaResponse): Answer => ({ status, headers, body });

/** The sample of a request. @param response under the other pack */
export function sampleOf(
  { dialect }: Pack,
  { request, context, outcome }: Exchange,
  response: AlphaResponse,
): ComparedSample {
  const { method, path, query } = request;
  const name = dialect.client.filters?.header?.toLowerCase();
  const token = context.client?.credentials.token;
  return {
    method,
    path: query === "" ? path : `${path}?${query}`,
    filter: (name === undefined ? undefined : header(request, name)) ?? null,
    ...(context.body && { body: context.body.bytes }),
    old: toAnswer(outcome.response),
    new: toAnswer(response),
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
