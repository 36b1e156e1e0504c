import { Router } from "express";
import type { UsageQuery } from "../audit/index.ts";
import type { NamesOfRoute, Notices, Subject } from "../migration/index.ts";
import { readUsageQuery } from "./audit-query.ts";
import { sendErrors, type Problem } from "./responses.ts";

/** The clients that would notice a change, and other questions about the route. */
export type ImpactAnswer = Notices & { readonly names: NamesOfRoute | null };

type Range = Pick<UsageQuery, "since" | "until">;

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 500;

/** Reads what may go. */
function readSubject(given: Readonly<Record<string, unknown>>): { subject: Subject; problems: Problem[] } {
  const { route, field, word } = given;
  const problems = Object.entries({ route, field, word })
    .filter(([, value]) => value !== undefined && !isText(value))
    .map(([parameter]) => ({ reason: "Has to be a text of at most 500 characters, once.", parameter }));
  if (route === undefined && field === undefined)
    problems.push({ reason: "Name a route, a field, or both.", parameter: "route" });
  if (word !== undefined && field === undefined)
    problems.push({ reason: "Name the field that has the word.", parameter: "field" });
  return { subject: { route, field, word } as Subject, problems };
}

/**
 * `GET /api/usage/impact?route=&field=&word=&since=&until=`: who would notice if it were gone.
 *
 * @param find Returns undefined for what the pack does not have.
 */
export function createImpactApi(
  find: (subject: Subject, range: Range) => Promise<ImpactAnswer | undefined>,
): Router {
  const router = Router({ caseSensitive: true });
  router.get("/", async (request, response) => {
    const { route, field, word, ...days } = request.query;
    const { subject, problems } = readSubject({ route, field, word });
    const { query, problems: others } = readUsageQuery(days);
    const { client, lane, ...range } = query;
    for (const [parameter, value] of Object.entries({ client, lane }))
      if (value !== undefined) problems.push({ reason: "Use route, field, word, since, until.", parameter });
    if (problems.length + others.length > 0) return sendErrors(response, 400, [...problems, ...others]);
    const answer = await find(subject, range);
    if (answer) response.json(answer);
    else sendErrors(response, 404, "The pack has no such route, field or word: nothing is counted of it.");
  });
  return router;
}
