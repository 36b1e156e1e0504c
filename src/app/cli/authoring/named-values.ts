/** Uses the names of values in a path if the response with their values is unknown: the names in braces, as in the pack. */
import {
  compileSetter,
  type JsonObject,
  keysOfName,
  NAME_IN_BRACES,
  type Route,
  type RouteCall,
} from "../../../pack/index.ts";

/** Returns the names in braces in a path. */
const namesIn = (template: string): string[] =>
  template.split(NAME_IN_BRACES).filter((_part, index) => index % 2 === 1);

/** Returns the calls before the main call whose responses may provide values for later paths. */
const readBefore = ({ calls }: Route): RouteCall[] =>
  calls.filter(({ place, repeats }) => place === "before" && !repeats);

/** Returns the names of values that the main call, and the requests before it, read from a response. */
function valueNames(route: Route): string[] {
  const { source } = route;
  const templates = readBefore(route).map(({ endpoint }) => endpoint.template);
  if ("call" in source) templates.push(source.call.template);
  return templates.flatMap(namesIn).filter((name) => keysOfName(name).length > 1);
}

/** Returns a response to a request before the call, whose members contain their own names; undefined if no path needs it. */
export function namedAnswer(path: string, route: Route): JsonObject | undefined {
  const step = readBefore(route).find(({ endpoint }) => endpoint.matches(path));
  if (!step) return undefined;
  const names = valueNames(route).filter((name) => keysOfName(name)[0] === step.name);
  const answer: JsonObject = {};
  for (const name of names) compileSetter(keysOfName(name).slice(1).join("."))(answer, `{${name}}`);
  return names.length > 0 ? answer : undefined;
}

/** Restores the pack's names in a path that was built from such responses. */
export const withNames = (path: string, route: Route): string =>
  valueNames(route).reduce(
    (text, name) => text.replaceAll(encodeURIComponent(`{${name}}`), `{${name}}`),
    path,
  );
