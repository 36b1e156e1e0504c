/** A counterexample as a golden case of the pack. */
import { tryParse } from "../../../audit/json-text.ts";
import type { Pack } from "../../../mapping/pack.ts";
import type { CatalogLists } from "../../catalog-upstream.ts";
import type { ExampleDefinition } from "../../examples/example.ts";
import type { Misfit } from "./fits-schema.ts";
import type { Answer, TrialRequest } from "./route-trial.ts";
import { applyEdits, type SchemaValues } from "./schema-values.ts";

type Json = ExampleDefinition["response"]["body"];

const withoutPrefix = (path: string, prefix: string): string =>
  prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;

/** What a golden case is made of. */
export interface GoldenParts {
  readonly title: string;
  readonly request: TrialRequest;
  /** The answer that is wrong. */
  readonly answer: Answer;
  readonly misfits: readonly Misfit[];
  /** The answer to the plain values, which is expected where there is none. */
  readonly plain: Answer;
  readonly catalogs: CatalogLists;
}

/** The answer with values of the right types in the places that do not fit. */
function mended(
  { answer, misfits, plain }: GoldenParts,
  values: SchemaValues,
): ExampleDefinition["response"] {
  if (answer.failure !== undefined || answer.status >= 400)
    return { status: plain.status, body: plain.body as Json };
  const edits = misfits.map(({ path, schema }) => ({ path, value: values.plain(schema) }));
  return { status: answer.status, body: applyEdits(answer.body, edits) as Json };
}

/** Makes a golden case that expects values of the right types, and fails until the pack gives these or the author others. */
export function toGoldenCounterexample(
  parts: GoldenParts,
  { dialect }: Pack,
  values: SchemaValues,
): ExampleDefinition {
  const { title, request, answer, catalogs } = parts;
  const { filters, base_path: prefix } = dialect.upstream;
  const filterHeader = filters?.header?.toLowerCase() ?? "";
  const definition: ExampleDefinition = {
    title,
    ...request,
    ...(Object.keys(catalogs).length > 0 && {
      catalogs: catalogs as NonNullable<ExampleDefinition["catalogs"]>,
    }),
    upstream: answer.calls.map(({ request: { method, path, headers, body: sent }, status, body }) => {
      const filter = tryParse(headers[filterHeader] ?? "")?.value;
      const sentBody = tryParse(sent ?? "")?.value;
      return {
        request: `${method} ${withoutPrefix(path, prefix)}`,
        ...(filter !== undefined && { filter: filter as Json }),
        ...(sentBody !== undefined && { body: sentBody as Json }),
        response: { status, ...(body !== undefined && { body: body as Json }) },
      };
    }),
    response: mended(parts, values),
  };
  // Numbers that keep their digits are no numbers for the library, and nothing is no value.
  return JSON.parse(JSON.stringify(definition)) as ExampleDefinition;
}
