/** `chunk` of the key `bulk`: one call to the upstream contains several ids. */
import { z } from "zod";
import { about, fromJsonText, isExactNumber } from "../../base/index.ts";
import { compileCopy, compileGetter, compileSetter } from "../values/member-paths.ts";
import type { JsonObject } from "../translation-context.ts";
import type { RouteFacts } from "../key-rules.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

/** Maximum number of calls for one client request, and of ids in one call. */
export const MOST_CALLS = 100;

/** The schema of several ids in one call. */
export const chunkSchema = z.strictObject({
  size: about(z.int().min(2).max(MOST_CALLS), "The most ids in a call.", 20),
  member: textKey(
    "The member of the upstream's body with the ids, dotted if nested. Default: they are in `upstream`, separated by commas.",
    "ids",
  ),
  type: about(
    z.enum(["text", "number"]).default("text"),
    "The type of an id in `member`. Default: `text`.",
    "number",
  ),
  id: about(name.default("id"), "The member of the upstream's object with its id. Default: `id`.", "number"),
});

/** How several ids are sent in one call, and how their objects are found in its response. */
export type BulkChunk = ReturnType<typeof compileChunk>;

/** Returns the text of an id. */
const idText = (id: unknown): string | undefined => {
  if (isExactNumber(id)) return id.rawJSON;
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
};

/** Compiles a chunk. */
export function compileChunk({ size, member, type, id }: z.infer<typeof chunkSchema>) {
  const get = compileGetter(id);
  const idOf = (object: unknown): string | undefined => idText(get(object));
  const [set, copy] = [compileSetter(member ?? ""), compileCopy([member ?? ""])];
  return {
    size,
    /** Returns the text of the id of an upstream object; undefined if the object has no id. */
    idOf,
    /** Returns the upstream's body with the ids of a call; undefined if the ids are in the path. */
    addIds:
      member === undefined
        ? undefined
        : (body: JsonObject, ids: readonly string[]): JsonObject => {
            const copied = copy(body);
            set(copied, type === "number" ? ids.map((each) => fromJsonText(each)) : ids);
            return copied;
          },
  };
}

/** Reports problems of a route's chunk. */
export function chunkProblems({ keys, body }: RouteFacts) {
  const { chunk } = keys["bulk"] as { readonly chunk?: { readonly member?: string } };
  if (!chunk) return [];
  return [
    ...(keys["calls"] === undefined
      ? []
      : [
          {
            at: ["calls"],
            message: '"calls" is about one object, and the calls of "chunk" are about several',
          },
        ]),
    ...(chunk.member !== undefined && body?.isList === true
      ? [{ at: ["bulk", "chunk", "member"], message: "the body is a list, which has no members" }]
      : []),
  ];
}
