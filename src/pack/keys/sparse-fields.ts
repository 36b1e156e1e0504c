/** The key `sparse_fields` of clients and of routes: responses with only the members that a client requests. */
import { ValidationError } from "../errors/http-error.ts";
import { shortName, type Query } from "../paths/query.ts";
import { isObject, setMember } from "../../base/index.ts";
import type { JsonObject } from "../translation-context.ts";
import { type ChosenMembers, routeKey } from "./key.ts";
import type { KeyContext, KeyResource } from "./key-context.ts";
import { hasNoEffect, type WrittenKeys } from "../key-rules.ts";
import { type MemberChoice, routeChoice } from "../fields/chosen-members-definition.ts";

type Resources = KeyContext["resources"];

/** Maximum number of names: more than any object has fields. */
const MAX_NAMES = 500;

/** Maximum number of levels: more than any response has. */
const MAX_LEVELS = 32;

/** Adds a dotted name. If all of a member is already chosen, it stays so. */
function addName(members: JsonObject, [key = "", ...rest]: readonly string[]): void {
  const inner = members[key];
  if (Object.hasOwn(members, key) && inner === undefined) return;
  const below = isObject(inner) && Object.hasOwn(members, key) ? inner : {};
  setMember(members, key, rest.length === 0 ? undefined : below);
  if (rest.length > 0) addName(below, rest);
}

/** Whether the response of a route contains objects of the pack. */
const hasObjects = ({ response, reject }: WrittenKeys): boolean =>
  reject === undefined && (response === "list" || response === "object");

/** Whether an object contains a member: as a field, as a parent of fields, or inside a nested object. */
function hasMember(name: string, { fields }: KeyResource, resources: Resources): boolean {
  if (fields.has(name)) return true;
  return [...fields].some(([field, { object }]) => {
    if (field.startsWith(`${name}.`)) return true;
    if (!name.startsWith(`${field}.`)) return false;
    const nested = resources.get(object ?? "");
    // The pack does not define the members of other values.
    return nested ? hasMember(name.slice(field.length + 1), nested, resources) : true;
  });
}

/**
 * Compiles how clients of a route choose members; undefined if they can't, or if the response contains no objects of
 * the pack.
 */
function compileChoice(
  written: "none" | MemberChoice,
  { keys, resource, resources, dialect, location }: KeyContext,
) {
  const { one_of: choices } = keys;
  const isOwn = keys["sparse_fields"] !== undefined;
  if (!hasObjects(keys)) return undefined;
  if (written === "none") {
    if (!dialect.client.sparse_fields)
      location.report('"none" has no effect: clients choose no members ("client.sparse_fields")');
    return undefined;
  }
  const objects = (choices as readonly { object: string }[] | undefined)?.map(({ object }) => object);
  const { multiple, always, unknown } = written;
  const parameter = written.parameter.replaceAll("{name}", resource.name);
  const field = shortName(parameter);
  const isMember = (name: string): boolean =>
    (objects ?? [resource.name]).some((object) => {
      const shown = object === resource.name ? resource : resources.get(object);
      return shown !== undefined && hasMember(name, shown, resources);
    });
  const isKnown = (name: string): boolean =>
    name.split(".", MAX_LEVELS + 1).length <= MAX_LEVELS && isMember(name);
  if (isOwn)
    for (const [index, name] of always.entries())
      if (!isMember(name))
        location.at("always", index).report(`objects of this route have no field "${name}"`);
  return {
    parameter,
    always,
    multiple,
    /** Returns the members that a request selects; undefined for all members. @throws {ValidationError} for unknown names */
    choose(query: Query): ChosenMembers | undefined {
      const texts = query.get(parameter);
      if (texts === undefined) return undefined;
      if (multiple === "comma" && texts.length > 1)
        throw new ValidationError([{ field, reason: "There is more than one." }]);
      const names = texts.flatMap((text) => (multiple === "comma" ? text.split(",") : [text]));
      const asked = names.map((name) => name.trim()).filter((name) => name !== "");
      if (asked.length === 0) return undefined;
      if (asked.length > MAX_NAMES)
        throw new ValidationError([
          { field, reason: `Must have at most ${MAX_NAMES} entries.`, rule: "maxItems" },
        ]);
      const wrong = unknown === "reject" ? asked.find((name) => !isKnown(name)) : undefined;
      if (wrong !== undefined)
        throw new ValidationError([
          { field, reason: `${shortName(wrong)} is not a field of ${resource.name}.`, rule: "enum" },
        ]);
      const members: JsonObject = {};
      for (const name of [...asked, ...always]) {
        const keys = name.split(".", MAX_LEVELS + 1);
        if (keys.length <= MAX_LEVELS) addName(members, keys);
      }
      return members as ChosenMembers;
    },
  };
}

export const sparseFields = routeKey({
  schema: routeChoice,
  rules: [hasNoEffect(({ keys }) => !hasObjects(keys), ": the route responds with no object and no list")],
  inherit: ({ dialect }) => dialect.client.sparse_fields,
  compile: compileChoice,
  choose: (compiled, query) => compiled.choose(query),
  checkClient({ client: { sparse_fields: choice } }, resources, location) {
    for (const [index, name] of (choice?.always ?? []).entries())
      if (![...resources.values()].some((resource) => hasMember(name, resource, resources)))
        location.at("sparse_fields", "always", index).report(`no object has the field "${name}"`);
  },
  parameters: ({ parameter }) => [{ name: parameter, use: 'chooses members: see "sparse_fields"' }],
  openapi: ({ parameter, always, multiple }) => {
    const kept = always.length === 0 ? "" : ` Always there: ${always.join(", ")}.`;
    return {
      // An object that only contains the members which the client chose.
      mayBeOtherObject: true,
      parameters: [
        {
          name: parameter,
          in: "query",
          description: `The members of the response, with dotted names if nested. Without it: all.${kept}`,
          explode: multiple === "repeat",
          schema: { type: "array", items: { type: "string" } },
        },
      ],
    };
  },
});
