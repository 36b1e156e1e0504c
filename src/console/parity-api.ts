import { Router } from "express";
import { z } from "zod";
import { MIN_RATE, type RouteSummary, type SourceSummary } from "../compare/index.ts";
import { refuseParameters, sendErrors, type Problem } from "./responses.ts";

/** What is asked about comparisons. */
export interface ParityQuery {
  readonly source?: "candidate" | "legacy" | undefined;
  readonly route?: string | undefined;
  readonly rate?: number | undefined;
}

/** Reads what comparisons of answers have found. */
export interface ParityReader {
  summaries(query: ParityQuery): Promise<readonly SourceSummary[]>;
  /** An example, described; undefined if there is none of this id. */
  example(id: string): Promise<unknown>;
}

const querySchema = z.strictObject({
  source: z.enum(["candidate", "legacy"]).optional(),
  route: z.string().max(500).optional(),
  rate: z.coerce.number().min(MIN_RATE).max(0.5).optional(),
});

/** Fields and names of one route, or of one list of routes. */
const MAX_NAMES = 50;

const boundRoute = ({ fields, gaps, ...route }: RouteSummary): RouteSummary => ({
  ...route,
  fields: fields.slice(0, MAX_NAMES),
  gaps: gaps && { fields: gaps.fields.slice(0, MAX_NAMES), words: gaps.words.slice(0, MAX_NAMES) },
});

function problemsOf({ issues }: z.ZodError): Problem[] {
  return issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((parameter) => ({ reason: "Use source, route, rate.", parameter }))
      : [{ reason: issue.message, parameter: String(issue.path[0]) }],
  );
}

/**
 * What comparisons of answers have found:
 *
 *     GET /api/parity        by source and route, with the fields that differ most
 *     GET /api/parity/ID     an example: both bodies, the rules of its fields, and commands that repeat it
 */
export function createParityApi(
  parity: ParityReader | undefined,
  onError: (error: unknown) => void = () => {},
): Router {
  const router = Router({ caseSensitive: true });
  const unavailable = "The state store can't be read now. Try again later.";

  router.get("/", async (request, response) => {
    const { data: query, error } = querySchema.safeParse(request.query);
    if (error) return sendErrors(response, 400, problemsOf(error));
    try {
      const sources = (await parity?.summaries(query)) ?? [];
      response.json({
        sources: sources.map((source) => ({ ...source, routes: source.routes.map(boundRoute) })),
      });
    } catch (fault) {
      onError(fault);
      sendErrors(response, 503, unavailable);
    }
  });

  router.get("/:id", refuseParameters, async (request, response) => {
    try {
      const example = await parity?.example(request.params.id);
      if (example === undefined) return sendErrors(response, 404, "There is no example of this id.");
      response.json(example);
    } catch (fault) {
      onError(fault);
      sendErrors(response, 503, unavailable);
    }
  });
  return router;
}
