/** Explains the parts around the objects of a list: the counts of v4 or of the gateway. */
import { compileGetter, dottedPath, LIST_VALUES, type Route } from "../../pack/index.ts";
import type { ExplainedField } from "../../compare/index.ts";

const readMember = (body: unknown, path: string): unknown => (path === "" ? body : compileGetter(path)(body));

export const readRows = (body: unknown, path: string): unknown[] => {
  const list = readMember(body, path);
  return Array.isArray(list) ? list : [];
};

/**
 * Explains the counts of a list.
 *
 * @param source The v4 call that returned its page, with its response. Undefined for a list that the gateway paged
 */
export function explainEnvelope(
  response: unknown,
  { lists: { envelope } }: Route,
  source: { readonly call: string; readonly v4: unknown } | undefined,
): ExplainedField[] {
  return LIST_VALUES.flatMap((count): ExplainedField[] => {
    const field = dottedPath(envelope.client.list, count);
    if (field === undefined) return [];
    const value = readMember(response, field);
    if (!source) {
      const v4 = { call: null, field: null };
      return [{ field, class: "derived", value, v4, rule: "counted by the gateway", loss: null }];
    }
    const origin = dottedPath(envelope.upstream.list, count) ?? "";
    const isSame = field === origin;
    return [
      {
        field,
        class: isSame ? "same" : "renamed",
        value,
        v4: { call: source.call, field: origin, value: readMember(source.v4, origin) },
        rule: isSame ? "the same name" : `from ${origin}`,
        loss: null,
      },
    ];
  });
}
