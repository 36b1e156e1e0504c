/** Values of one answer in the next path, where no answer is known: their names in braces, as the pack has them. */
import {
  compileSetter,
  type JsonObject,
  keysOfName,
  NAME_IN_BRACES,
  type Route,
  type RouteCall,
} from "../../pack/index.ts";

/** The names in braces of a path. */
const namesIn = (template: string): string[] =>
  template.split(NAME_IN_BRACES).filter((_part, index) => index % 2 === 1);

/** The calls before the main one whose responses later paths may have values of. */
const readBefore = ({ calls }: Route): RouteCall[] =>
  calls.filter(({ place, repeats }) => place === "before" && !repeats);

/** The names of values that the main call and the requests before it have from an answer. */
function valueNames(route: Route): string[] {
  const { source } = route;
  const templates = readBefore(route).map(({ endpoint }) => endpoint.template);
  if ("call" in source) templates.push(source.call.template);
  return templates.flatMap(namesIn).filter((name) => keysOfName(name).length > 1);
}

/** An answer to a request before the call, whose members are their own names; undefined if no path needs one. */
export function namedAnswer(path: string, route: Route): JsonObject | undefined {
  const step = readBefore(route).find(({ endpoint }) => endpoint.matches(path));
  if (!step) return undefined;
  const names = valueNames(route).filter((name) => keysOfName(name)[0] === step.name);
  const answer: JsonObject = {};
  for (const name of names) compileSetter(keysOfName(name).slice(1).join("."))(answer, `{${name}}`);
  return names.length > 0 ? answer : undefined;
}

/** A path that was built from such answers, with the names of the pack. */
export const withNames = (path: string, route: Route): string =>
  valueNames(route).reduce(
    (text, name) => text.replaceAll(encodeURIComponent(`{${name}}`), `{${name}}`),
    path,
  );
