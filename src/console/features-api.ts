/** The admin API of all operator features. */
import { json, type Response, Router } from "express";
import type { z } from "zod";
import { type FeatureParts, type OpenFeature, RefusedError } from "../base/index.ts";
import { refuseParameters, sendErrors, type Problem } from "./responses.ts";

/** A feature with any needs. */
export type AdminFeature = OpenFeature<
  Pick<FeatureParts, "describe" | "form" | "isShown" | "items" | "parameters" | "status"> | undefined
>;

const UNREADABLE = "The state store can't be read now. Try again later.";

function problemsOf({ issues }: z.ZodError, { shape }: z.ZodObject): Problem[] {
  return issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((parameter) => ({ reason: `Use ${Object.keys(shape).join(", ")}.`, parameter }))
      : [{ reason: issue.message, parameter: String(issue.path[0]) }],
  );
}

/** Creates the routes of one feature. @param member the member of responses that contains its status */
function createFeatureApi(
  { feature: { setting, actions = [] }, parts }: AdminFeature,
  member: string,
  onError: (error: unknown) => void,
): Router {
  const router = Router({ caseSensitive: true });
  const readStatus = async (query?: unknown) => ({ [member]: (await parts?.status?.(query)) ?? null });

  function sendUnavailable(response: Response, error: unknown, reason: string): void {
    onError(error);
    sendErrors(response, 503, reason);
  }
  const sendUnreadable = (response: Response, error: unknown): void =>
    sendUnavailable(response, error, UNREADABLE);

  const { parameters } = parts ?? {};
  if (!parameters) router.use(refuseParameters);
  router.get("/", async (request, response) => {
    const query = parameters?.safeParse(request.query);
    if (parameters && query?.error) return sendErrors(response, 400, problemsOf(query.error, parameters));
    try {
      response.json(await readStatus(query?.data));
    } catch (error) {
      sendUnreadable(response, error);
    }
  });

  router.get("/:id", refuseParameters, async ({ params }, response, next) => {
    const { items } = parts ?? {};
    if (!items) return next();
    try {
      const item = await items.read(params.id);
      if (item === undefined) return sendErrors(response, 404, `There is no ${items.name} of this id.`);
      response.json(item);
    } catch (error) {
      sendUnreadable(response, error);
    }
  });

  router.post("/:action", json(), async ({ params, body }, response, next) => {
    if (!parts) return sendErrors(response, 404, `This gateway has no ${member}: ${setting} is not set.`);
    const action = actions.find(({ name, usage }) => name === params.action && usage !== undefined);
    if (!action) return next();
    const run = action.accept(body, parts);
    if (!run) return sendErrors(response, 400, action.usage ?? "");
    try {
      const { data } = await run();
      response.json({ ...data, ...(await readStatus()) });
    } catch (error) {
      if (error instanceof RefusedError)
        return sendErrors(response, error.isUnknown ? 404 : 409, error.message);
      const reason = "The state store can't be written: nothing has changed. Try again.";
      sendUnavailable(response, error, reason);
    }
  });
  return router;
}

const isShown = (parts: AdminFeature["parts"]): boolean => parts !== undefined && (parts.isShown ?? true);

/** Returns whether the console has a page for each feature, by name. */
export const shownFeatures = (features: readonly AdminFeature[]): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    features.flatMap(({ feature: { name, member }, parts }) =>
      member === undefined ? [] : [[name, isShown(parts)]],
    ),
  );

/**
 * Status and actions of each feature that has a status:
 *
 *     GET /api/NAME           its status; null if it is off
 *     GET /api/NAME/ID        one thing that the status names
 *     GET /api/pages          the pages of the console: address, title, and whether the navigation has it
 *     GET /api/pages/NAME     the status, the blocks and the form of such a page; null and no blocks if it is off
 *     POST /api/NAME/ACTION   does something, on all replicas, and returns the status
 */
export function createFeaturesApi(
  features: readonly AdminFeature[],
  onError: (error: unknown) => void = () => {},
): Router {
  const router = Router({ caseSensitive: true });
  router.get("/pages", refuseParameters, (_request, response) => {
    const pages = features.flatMap(({ feature: { name, page }, parts }) =>
      page ? [{ name, ...page, isShown: isShown(parts), hasItems: parts?.items !== undefined }] : [],
    );
    response.json({ pages });
  });
  for (const each of features) {
    const { name, member } = each.feature;
    if (member === undefined) continue;
    router.use(`/${name}`, createFeatureApi(each, member, onError));
    router.get(`/pages/${name}`, refuseParameters, async (_request, response) => {
      const { parts } = each;
      try {
        const status = (await parts?.status?.(parts.parameters?.parse({}))) ?? null;
        response.json({ status, blocks: (await parts?.describe?.()) ?? [], form: parts?.form?.() });
      } catch (error) {
        onError(error);
        sendErrors(response, 503, UNREADABLE);
      }
    });
  }
  return router;
}
