/** The law of errors: what an error of one shape says is what is read from it. */
import {
  type ErrorDetail,
  type ErrorFormat,
  type ErrorFormats,
  findPlaces,
  namesIn,
  type Pack,
  type ReadErrors,
  type Shape,
} from "../../pack/index.ts";
import { between, pick, WORDS, type Random } from "./generate-values.ts";
import type { MutableReport } from "./law-report.ts";

/** The text of an error, and the fields of problems that have an entry of their own. */
function summarize(
  { details, summary }: ReadErrors,
  entryNames: ReadonlySet<string>,
  outerNames: ReadonlySet<string>,
): unknown {
  // A title is that of the status: it is the text of an error that has no other, and of no problem.
  const whole = outerNames.has("message") ? summary?.reason : undefined;
  const hasFields = entryNames.has("field") || entryNames.has("pointer");
  // In entries without a text, a problem without a field has no entry.
  const fields = details.flatMap(({ field }) => field ?? (entryNames.has("message") ? [null] : []));
  return {
    text: whole ?? details.map(({ reason }) => reason).join(" "),
    fields: hasFields ? fields : [],
  };
}

/** The names in the entries of a shape, or those around them. */
const namesOf = (shape: Shape, inEntries: boolean): ReadonlySet<string> =>
  new Set(namesIn(shape).flatMap(({ name, path }) => (path.includes("[]") === inEntries ? [name] : [])));

/**
 * Whether what an error says can be read from it: with the text of each problem, and without an object by field, which has
 * the problems in another order.
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
  const entryNames = namesOf(shapes.at(-1), true);
  const outerNames = namesOf(shapes.at(-1), false);
  const written = { details, summary: undefined };
  const [expected, actual] = [written, read(write(details, 400)) ?? { ...written, details: [] }].map((each) =>
    summarize(each, entryNames, outerNames),
  );
  report.cases += 1;
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  report.findings.push({ kind: "error", subject: `errors of ${side}`, value: details, expected, actual });
}

/** Checks the shapes of errors of both sides: those of the pack, and those of routes. */
export function checkErrors(
  { errors, routes }: Pack,
  options: { readonly runs: number; readonly random: Random },
  report: MutableReport,
): void {
  for (const formats of [errors, ...routes.flatMap((route) => route.errors ?? [])])
    checkFormats(formats, options, report);
}

function checkFormats(
  errors: ErrorFormats,
  { runs, random }: { readonly runs: number; readonly random: Random },
  report: MutableReport,
): void {
  for (const side of ["client", "upstream"] as const)
    for (let run = 0; run < (isReadable(errors[side]) ? runs : 0); run += 1) {
      const details = Array.from({ length: between(1, 3, random) }, (): ErrorDetail => ({
        reason: pick(WORDS, random) ?? "",
        ...(random() < 0.5 && { field: random() < 0.5 ? "name" : "address.city" }),
      }));
      const found = report.findings.length;
      checkFormat(side, errors[side], details, report);
      if (report.findings.length > found) break;
    }
}
