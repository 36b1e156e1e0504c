/** The law of errors: writing and reading an error returns the same content. */
import * as fc from "fast-check";
import {
  type ErrorDetail,
  type ErrorFormat,
  findPlaces,
  namesIn,
  type Pack,
  type ReadErrors,
  type Shape,
} from "../../pack/index.ts";
import { type Generation, sample, WORDS } from "./generate-values.ts";
import type { MutableReport } from "./law-report.ts";

/** Returns the text of an error, and the fields of problems that have their own entry. */
function summarize(
  { details, summary }: ReadErrors,
  entryNames: ReadonlySet<string>,
  outerNames: ReadonlySet<string>,
): unknown {
  // A title belongs to the status. It is the text of an error that has no other text, and never the text of a problem.
  const whole = outerNames.has("message") ? summary?.reason : undefined;
  const hasFields = entryNames.has("field") || entryNames.has("pointer");
  // If entries contain no text, a problem without a field has no entry.
  const fields = details.flatMap(({ field }) => field ?? (entryNames.has("message") ? [null] : []));
  return {
    text: whole ?? details.map(({ reason }) => reason).join(" "),
    fields: hasFields ? fields : [],
  };
}

/** Returns the names inside or outside the entries of a shape. */
const namesInOrAround = (shape: Shape, inEntries: boolean): ReadonlySet<string> =>
  new Set(namesIn(shape).flatMap(({ name, path }) => (path.includes("[]") === inEntries ? [name] : [])));

/**
 * Whether the content of an error can be read from it: the text of each problem, in the same order unless it is in an
 * object by field.
 */
const isReadable = ({ shapes }: ErrorFormat): boolean =>
  shapes.length === 1 &&
  namesIn(shapes[0]).some(({ name }) => name === "message") &&
  findPlaces(shapes[0]).every(({ keys }) => keys === undefined);

function checkFormat(
  side: string,
  { shapes, read, write }: ErrorFormat,
  details: readonly ErrorDetail[],
  report: MutableReport,
): void {
  const entryNames = namesInOrAround(shapes.at(-1), true);
  const outerNames = namesInOrAround(shapes.at(-1), false);
  const written = { details, summary: undefined };
  const [expected, actual] = [written, read(write(details, 400)) ?? { ...written, details: [] }].map((each) =>
    summarize(each, entryNames, outerNames),
  );
  report.cases += 1;
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  report.findings.push({ kind: "error", subject: `errors of ${side}`, value: details, expected, actual });
}

/** The problems of an error. */
const DETAILS = fc.array(
  fc.record(
    { reason: fc.constantFrom(...WORDS), field: fc.constantFrom("name", "address.city") },
    { requiredKeys: ["reason"] },
  ),
  { minLength: 1, maxLength: 3 },
);

/** Checks the error shapes of both sides, of the pack and of routes. */
export function checkErrors({ errors, routes }: Pack, generation: Generation, report: MutableReport): void {
  for (const formats of [errors, ...routes.flatMap((route) => route.errors ?? [])])
    for (const side of ["client", "upstream"] as const)
      for (const details of isReadable(formats[side]) ? sample(DETAILS, generation) : []) {
        const found = report.findings.length;
        checkFormat(side, formats[side], details, report);
        if (report.findings.length > found) break;
      }
}
