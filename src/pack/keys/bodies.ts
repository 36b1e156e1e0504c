/** The keys of a route about the body of its requests. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { mediaType } from "../values/text-types.ts";
import { routeKey } from "./key.ts";
import { has, hasNoEffect, needsKey, needsObjectBody, type RouteKind, states } from "../key-rules.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

/** Kinds of routes that send no part of the client's body. */
const WITHOUT_BODY: ReadonlySet<RouteKind> = new Set(["aggregated", "catalog", "file"]);

export const body = routeKey({
  schema: textKey("Name of the body.", "create"),
  rules: [
    hasNoEffect(
      (route) => route.body?.toPath.size === 0 && route.call === "GET",
      ": the route sends a GET, which has no body",
    ),
    hasNoEffect(({ kind }) => WITHOUT_BODY.has(kind), ": the upstream gets nothing of it on this route"),
    ({ callsBefore, body: rules }) =>
      (rules?.callSources ?? [])
        .map(({ path, use }) => ({ path, use, call: path.split(".")[0] ?? "" }))
        .filter(({ call }) => !callsBefore.includes(call))
        .map(({ path, use, call }) => ({
          at: [],
          message: `the body ${use} "${path}", and the route has no call "${call}" before the main call`,
          hint: `calls: [{ name: ${call}, at: before, upstream: "GET /path" }]`,
        })),
    ({ parameters, body: rules }) =>
      (rules?.pathParameters ?? [])
        .filter((parameter) => !parameters.includes(parameter))
        .map((parameter) => ({
          at: ["body"],
          message: `the body uses :${parameter}, and the path has no such parameter`,
        })),
  ],
});

const uploadDefinition = z.strictObject({
  content_type: about(mediaType, "The media type of the file.", "image/png"),
  max_bytes: about(z.int().positive(), "The largest file.", 1_048_576),
});

/** A file that a client sends: its media type, and its maximum size in bytes. */
export type FileRule = Readonly<z.infer<typeof uploadDefinition>>;

export const upload = routeKey({
  schema: about(uploadDefinition.optional(), "The request body is a file. It is streamed unchanged.", {
    content_type: "image/png",
    max_bytes: 1_048_576,
  }),
  rules: [
    states((route) => has(route, "body"), '"upload" excludes "body": the gateway does not read the file'),
  ],
  openapi: ({ content_type: type }) => ({ requestContent: { [type]: {} } }),
  comparison: { obstacle: "file" },
});

export const when = routeKey({
  schema: textKey(
    "JSONata over the client's body, `$path` or `$query`: whether the route is used. The first route whose `when` is true is used.",
    "$exists(password)",
  ),
});

/**
 * The key for sending only members that differ from the current object. `items`: even in lists, only items that differ
 * are sent.
 */
export const onlyChanges = routeKey({
  schema: about(
    z.union([z.literal(true), z.literal("items")]).optional(),
    "Sends only members that differ from the response of `read_route`. With `items`, a list has only items that differ.",
    true,
  ),
  rules: [needsKey("read_route", "the route that reads the current object"), needsObjectBody],
});

/** The name of the route that reads the object which this route edits. */
export const readRoute = routeKey({
  schema: textKey(
    "The client's route that reads the object. Clients may send back its response.",
    "GET /books/:id",
  ),
  rules: [
    states(
      ({ body: rules }) => rules?.members.length === 0 && rules.added.length === 0,
      "the route would always respond with the current object: its body has no members",
    ),
    needsObjectBody,
  ],
  objectRoutes: (route) => [route],
});

/** The key for repeating a call without a member that the gateway had added, if v4 rejects only this member. */
export const retry = routeKey({
  schema: about(
    z
      .strictObject({
        without: about(name, "An upstream member that the gateway has added.", "label"),
      })
      .optional(),
    "If the upstream rejects only a member that the gateway added, the call is repeated without it.",
    { without: "label" },
  ),
  rules: [needsObjectBody],
  explain: ({ without }, { upstream }) => [
    `sent again without "${without}" if ${upstream} rejects only that member`,
  ],
});

/** The alpha field of the error if v4 does not find something and its error contains no name. */
export const notFoundField = routeKey({
  schema: textKey("The client's field of a 404 whose error names no field.", "copy"),
});
