/** How the response of a route is read and wrapped: the resource of its object, and the wrappers on both sides. */
import { createListWriter } from "../lists/envelope.ts";
import { HttpError } from "../errors/http-error.ts";
import { cursorAt, fromJsonText, readRaw, resolveReference, type SourceLocation } from "../../base/index.ts";
import { createObjectReader, objectPath, wrapperTexts } from "../bodies/object-wrapper.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import { hasParts } from "../calls/call-definition.ts";
import type { ReadContext, ReadFunction, Scope } from "../translation-context.ts";
import { compileScopedCondition } from "../expressions/conditions.ts";
import type { ListNames, RouteLists } from "../lists/envelopes.ts";
import type { Resource } from "./resource.ts";

type Resources = ReadonlyMap<string, Resource>;

/** Returns the resource that translates an upstream object. */
type ChooseResource = (v4: unknown, scope: Scope) => MaybePromise<Resource>;

/**
 * Compiles the choice of a resource: the first one whose condition holds for the v4 object. The last one needs no
 * condition.
 */
function compileResourceChoice(
  choices: RouteDefinition["one_of"],
  defaultResource: Resource,
  resources: Resources,
  location: SourceLocation,
): ChooseResource {
  const compiled = (choices ?? []).map(({ object, when }, index) => ({
    holds: compileScopedCondition(when, location.at(index, "when"), "response"),
    resource: resolveReference(location.at(index, "object"), "object", object, resources) ?? defaultResource,
  }));
  return compiled.reduceRight<ChooseResource>(
    (otherwise, { holds, resource }) =>
      (v4, scope) =>
        thenMaybe(holds?.(v4, scope) ?? true, (isChosen) => (isChosen ? resource : otherwise(v4, scope))),
    () => defaultResource,
  );
}

/** Rejects objects that only exist in v4. The returned function throws {HttpError} 404 for such an object. */
function rejectMissing(
  read: ReadFunction,
  exists: string | undefined,
  location: SourceLocation,
): ReadFunction {
  const holds = compileScopedCondition(exists, location, "response");
  if (!holds) return read;
  return (from, reading) =>
    thenMaybe(read(from, reading), (text) =>
      thenMaybe(holds(fromJsonText(text), reading), (exists) => {
        if (!exists) throw new HttpError(404, "Not found");
        return text;
      }),
    );
}

/** Whether reading an object may return a promise, because of its own fields or those of a nested object. */
function mayReturnPromise(
  { mayBeAsync, nestedObjects }: Resource,
  resources: Resources,
  parents: ReadonlySet<string> = new Set(),
): boolean {
  return (
    mayBeAsync ||
    nestedObjects.some((name) => {
      const resource = parents.has(name) ? undefined : resources.get(name);
      return resource !== undefined && mayReturnPromise(resource, resources, new Set([...parents, name]));
    })
  );
}

/** The upstream's object if the upstream sent none. */
const NO_MEMBERS = Buffer.from("{}");

/** Compiles how the object of a response, or each item of a list, is read. */
export function compileReading(
  { one_of: choices, exists }: RouteDefinition,
  resource: Resource,
  resources: Resources,
  location: SourceLocation,
) {
  const resourceFor = compileResourceChoice(choices, resource, resources, location.at("one_of"));
  const readChosen: ReadFunction = (from, reading) => {
    const text = readRaw(from);
    return thenMaybe(resourceFor(fromJsonText(text), reading), ({ read }) => read(cursorAt(text), reading));
  };
  const isDirect = !choices && exists === undefined && !mayReturnPromise(resource, resources);
  const read = rejectMissing(choices ? readChosen : resource.read, exists, location.at("exists"));
  return {
    resourceFor,
    /** Translates a v4 object. */
    read,
    /**
     * Returns the object after a write without a response body: its constants, and its values from the request. `{}` if
     * a field comes from the upstream's object.
     */
    readEmpty: (reading: ReadContext) =>
      thenMaybe(resourceFor({}, reading), ({ readsUpstream }) =>
        readsUpstream ? "{}" : read(cursorAt(NO_MEMBERS), reading),
      ),
    /** Translates the row of a list into the output buffer; undefined if a row may need a promise or a check first. */
    append: isDirect ? resource.append : undefined,
  };
}

/** Returns the names in the response of a route that returns a different object. The name of a list may be the file's. */
export const responseNames = (
  shown: Resource,
  file: Resource,
): ListNames & Pick<Resource, "name" | "upstreamName"> => ({
  name: shown.name,
  upstreamName: shown.upstreamName,
  list: shown.list ?? file.list,
  upstreamList: shown.upstreamList ?? file.upstreamList,
  envelope: file.envelope,
});

/** The shape of an object without a wrapper. */
const OBJECT = "$object";

/** Compiles the wrappers around the object of a response, or around the items of a list. */
export function compileWrappers(
  definition: RouteDefinition,
  { name, upstreamName, list = "" }: Pick<Resource, "name" | "upstreamName" | "list">,
  { client, upstream }: RouteLists["envelope"],
  location: SourceLocation,
) {
  const { response } = definition;
  const isList = response === "list";
  const key = isList ? "item" : "object";
  const hasObject = isList || response === "object";
  const [clientShape = OBJECT, upstreamShape = OBJECT] = hasObject ? [client[key], upstream[key]] : [];
  const upstreamPath = objectPath(upstreamShape, upstreamName);
  const [open, close] = wrapperTexts(clientShape, name);
  if (hasParts(definition) && upstreamPath.length > 0)
    location
      .at("calls")
      .report('a part of an object does not read the wrapper of the upstream ("responses.object")');
  return {
    /** The keys that lead to the object in the upstream's response, or in an item of a list; empty if there is no wrapper. */
    upstreamPath,
    /** Reads the object in the upstream's response, or in an item of a list; undefined if there is no wrapper. */
    readWrapped: createObjectReader(upstreamPath),
    /** The keys that lead to the object in the client's response, or in an item of a list. */
    clientPath: objectPath(clientShape, name),
    /** Puts the object of the response into the client's wrapper; undefined for lists, and if there is no wrapper. */
    wrapObject: isList || clientShape === OBJECT ? undefined : (object: string) => open + object + close,
    /** Writes the client's list. */
    listWriter: createListWriter(client.list, list, [open, close]),
  };
}
