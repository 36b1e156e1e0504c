import { Router } from "express";
import { type AuditStore, readUsageQuery } from "../audit/index.ts";
import type { Subject } from "../migration/index.ts";
import type { Pack } from "../pack/index.ts";
import { sendErrors, type Problem } from "./responses.ts";
import type { ClientOptions } from "./usage-api.ts";

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 500;

/** Reads the subject of a removal. */
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

/** `GET /api/usage/impact?route=&field=&word=&since=&until=`: the clients that would notice the removal. */
export function createImpactApi(
  store: AuditStore,
  { directory }: Pick<ClientOptions, "directory">,
  pack: () => Pack,
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
    // The module is loaded for the first request.
    const { findNotices, findQuestions, namesOfRoutes } = await import("../migration/index.ts");
    const names = namesOfRoutes(pack());
    const questions = findQuestions(subject, names);
    if (questions.length === 0)
      return sendErrors(
        response,
        404,
        "The pack has no such route, field or word: nothing is counted of it.",
      );
    response.json({
      ...(await findNotices(questions, { store, directory: directory(), range })),
      // The names for further questions about the route.
      names: names.find((each) => each.route === subject.route) ?? null,
    });
  });
  return router;
}
