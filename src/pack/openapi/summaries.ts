/** Summaries of operations, in the words of the pack: its objects, and what the paths of its routes end with. */
import type { Route } from "../routes/route.ts";
import type { Pack } from "../pack.ts";

const VERBS: Readonly<Record<string, string>> = {
  GET: "Get",
  POST: "Create",
  PUT: "Update",
  PATCH: "Change",
  DELETE: "Delete",
};

/** `reset_secret` as `reset secret`. */
const wordsOf = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();

/** The end of a path after its last parameter, or the path without its beginning if it has none: `boot` of `/instances/:id/boot`. */
function endOf(path: string): string {
  const segments = path.split("/");
  const last = segments.findLastIndex((segment) => segment.startsWith(":"));
  return last === -1 ? (segments.at(-1) ?? "") : segments.slice(last + 1).join(" ");
}

/** Whether objects have addresses below a path: a POST to it creates one. */
const isCollection = (path: string, { routes }: Pack): boolean =>
  routes.some(
    ({ name, response }) =>
      name.split(" ")[1]?.startsWith(`${path}/:`) || (response === "list" && name === `GET ${path}`),
  );

/** The summary of an operation: `List vms`, `Update instance`, `Boot (instance)`. */
export function summarize({ name, object, list, response, kind }: Route, pack: Pack): string {
  const [method = "", path = ""] = name.split(" ");
  const of = wordsOf(object);
  if (response === "list") return `List ${wordsOf(list) || of}`;
  const end = wordsOf(endOf(path));
  const isAction = method === "POST" && !isCollection(path, pack);
  if (isAction && end !== "")
    return `${end.charAt(0).toUpperCase()}${end.slice(1)}${end === of ? "" : ` (${of})`}`;
  const verb = isAction ? "Send" : (VERBS[method] ?? method);
  return kind === "file" && end !== "" ? `${verb} ${end} (${of})` : `${verb} ${of}`;
}
