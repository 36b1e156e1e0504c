/** Creates a golden case from an example: the client's request, the upstream's responses, and the client's response. */
import { stringify } from "yaml";
import { isTruncated, tryParse } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import { clientBody, type Example, isJsonType } from "../../compare/index.ts";
import { type ExampleDefinition, withoutPrefix } from "./example.ts";

/** The text of a golden case, or the reason why there is none. */
type GoldenCase = { readonly yaml: string } | { readonly problem: string };

type Json = ExampleDefinition["response"]["body"];

/** Whether a part of the example was too long to be stored. */
const hasGaps = ({ body, old, calls = [] }: Example): boolean =>
  [body, old.body, ...calls.flatMap((call) => [call.body, call.response])].some(isTruncated);

/** Writes a golden case that expects the old response. */
export function toGoldenCase(example: Example, pack: Pack): GoldenCase {
  const { calls, method, path, filter, body, old, route, differences, id } = example;
  if (!calls) return { problem: "the example has no responses of the upstream" };
  if (hasGaps(example)) return { problem: "a body of the example was too long to be kept" };
  const { client, upstream } = pack.dialect;
  const filterHeader = client.filters?.header;
  const sent = clientBody(body, pack);
  // A body without a type has the first type that clients may send.
  const needsType =
    sent.type !== undefined && (!isJsonType(sent.type) || sent.type !== pack.mediaTypes.names[0]);
  const headers = {
    ...(needsType && { "Content-Type": sent.type }),
    ...(filter !== null && filterHeader !== undefined && { [filterHeader]: filter }),
  };
  const format = pack.route(route)?.body?.format;
  /** A golden case contains a form as its text. */
  const toCase = (content: unknown): unknown =>
    format && isObject(content) && !isJsonType(format.mediaType) ? format.print(content) : content;
  const [difference] = differences;
  const what = difference ? `${difference.field || "the body"} (${difference.kind})` : "the answer";
  const definition: ExampleDefinition = {
    title: `${route}: ${what} as before`,
    request: `${method} ${withoutPrefix(path, client.base_path)}`,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body: sent.body as Json }),
    upstream: calls.map((call) => ({
      request: `${call.method} ${withoutPrefix(call.path, upstream.base_path)}`,
      ...(call.filter !== null && { filter: (tryParse(call.filter)?.value ?? call.filter) as Json }),
      ...(call.body !== undefined && { body: toCase(call.body) as Json }),
      response: {
        status: call.status ?? 503,
        ...(call.response !== undefined && call.response !== null && { body: call.response as Json }),
      },
    })),
    response: { status: old.status, ...(old.body !== undefined && { body: old.body as Json }) },
  };
  // The library does not treat exact numbers as numbers.
  const plain: unknown = JSON.parse(JSON.stringify(definition));
  return { yaml: `# From the difference ${id}. Secrets were removed.\n${stringify(plain)}` };
}
