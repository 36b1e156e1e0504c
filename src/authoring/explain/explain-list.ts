/** The parts around the objects of a list: the counts that v4 or the gateway gave. */
import type { RecordedCall } from "../../audit/index.ts";
import { compileGetter, dottedPath, LIST_VALUES, type Route } from "../../pack/index.ts";
import { callName, type ExplainedField } from "../../compare/index.ts";

const readMember = (body: unknown, path: string): unknown => (path === "" ? body : compileGetter(path)(body));

export const readRows = (body: unknown, path: string): unknown[] => {
  const list = readMember(body, path);
  return Array.isArray(list) ? list : [];
};

/** The values that a list of the client has, with their paths. */
const clientCounts = ({
  lists: { envelope },
}: Route): { count: (typeof LIST_VALUES)[number]; field: string }[] =>
  LIST_VALUES.flatMap((count) => {
    const field = dottedPath(envelope.client.list, count);
    return field === undefined ? [] : [{ count, field }];
  });

/** Explains the counts of a list that v4 paged. */
export function explainEnvelope(response: unknown, call: RecordedCall, route: Route): ExplainedField[] {
  return clientCounts(route).map(({ count, field }) => {
    const origin = dottedPath(route.lists.envelope.upstream.list, count) ?? "";
    return {
      field,
      class: field === origin ? "same" : "renamed",
      value: readMember(response, field),
      v4: { call: callName(call), field: origin, value: readMember(call.response, origin) },
      rule: field === origin ? "the same name" : `from ${origin}`,
      loss: null,
    };
  });
}

/** Explains the counts of a list that the gateway paged. */
export function explainGatewayEnvelope(response: unknown, route: Route): ExplainedField[] {
  return clientCounts(route).map(({ field }) => {
    const value = readMember(response, field);
    const v4 = { call: null, field: null };
    return { field, class: "derived", value, v4, rule: "counted by the gateway", loss: null };
  });
}
