/** A request of a client for each route, to which the upstream's answers are tried. */
import type { Pack, ParameterType, Route } from "../../pack/index.ts";
import type { DryRunRequest } from "../../compare/index.ts";
import { splitCall, type Example, sentHeaders } from "../examples/example.ts";
import { createRandom, generateValue } from "../laws/generate-values.ts";

/** A request, in the form of a golden case and in the sent form. */
export interface TrialRequest {
  readonly written: Pick<Example["definition"], "request" | "headers" | "body">;
  readonly sent: DryRunRequest;
}

const VALUES: Readonly<Record<ParameterType, string>> = {
  integer: "1",
  text: "a",
  path: "a",
  ip: "192.0.2.1",
  ip4: "192.0.2.1",
  ip6: "2001:db8::1",
};

/** The request of a route that no golden case has. */
function generateRequest({ name, pathParameters, body }: Route): TrialRequest["written"] {
  const request = name.replaceAll(/:(\w+)|\{(\w+)\}/g, (_all, one?: string, other?: string) => {
    const { type } = pathParameters[one ?? other ?? ""] ?? { type: "text" };
    return VALUES[type];
  });
  const generated = body && generateValue(body.schema, createRandom(1));
  return { request, ...(generated !== undefined && { body: generated as TrialRequest["written"]["body"] }) };
}

/** The size of a request's data. */
const sizeOf = ({ definition: { request, headers = {} } }: Example): number =>
  request.length + JSON.stringify(headers).length;

/** The plainest request of a golden case that succeeds, or a generated one. Others may ask for a page or a part of a list. */
export function trialRequest(route: Route, pack: Pack, examples: readonly Example[]): TrialRequest {
  const [example] = examples
    .filter(
      ({ definition }) =>
        definition.response.status < 300 &&
        definition.file === undefined &&
        definition.upstream.every(({ response }) => response.status < 300),
    )
    .sort((one, other) => sizeOf(one) - sizeOf(other));
  const definition = example?.definition ?? generateRequest(route);
  const { request, body } = definition;
  const optional = {
    ...(definition.headers && { headers: sentHeaders(definition) }),
    ...(body !== undefined && { body }),
  };
  return {
    written: { request, ...optional },
    sent: { ...splitCall(request, pack.dialect.client.base_path), ...optional },
  };
}
