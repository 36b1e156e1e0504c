import type { Node } from "../ast.ts";
import { member, NotCompiled, quote, type Code } from "./code.ts";
import { emitGrouping, groupingOf, isBare } from "./grouping.ts";
import { closure, positionOf, temporary, type Scope } from "./scope.ts";
import { filtered, keepsOne, nameIn, stagesOf, stepItself, termsOf } from "./steps.ts";
import { emitTuplePath } from "./tuple-paths.ts";

/**
 * Paths. As long as single objects are found, a step is the reading of a member; from the first list, or
 * the first step that is more than a name, on, the steps are helpers that go over lists.
 */

type Emit = (node: Node, scope: Scope) => Code;

const isPlainName = (step: Node): boolean =>
  step.type === "name" && isBare(step) && stagesOf(step).length === 0;

/** Names read off one value. `end` finishes what was read off single objects, `otherwise` goes on with anything else. */
function readNames(
  start: string,
  names: readonly string[],
  scope: Scope,
  end: (value: string) => string,
  otherwise: (value: string, rest: readonly string[]) => string,
): string {
  const value = temporary(scope);
  const read = (from: string, index: number): string => {
    const name = names[index];
    if (name === undefined) return end(from);
    const deeper = read(member(value, name), index + 1);
    return `(${scope.unit.use("isRecord")}(${value} = ${from}) ? ${deeper} : ${otherwise(value, names.slice(index))})`;
  };
  return read(start, 0);
}

/** Where a path starts: its first value, and how many steps that took. */
interface Start {
  readonly js: string;
  readonly taken: number;
  /** The start is the context itself, or a value found in it. */
  readonly ofContext: boolean;
  /** Already a list of things. */
  readonly listed: boolean;
}

function startOf(steps: readonly Node[], scope: Scope): Start {
  const { unit, context } = scope;
  const first = steps[0] as Node;
  if (first["consarray"]) return { js: constructed(first, scope), taken: 1, ofContext: false, listed: true };
  if (first.type === "variable" || (scope.single && first.type !== "name" && first.type !== "sort")) {
    if (first.type === "variable" && first["stages"]) throw new NotCompiled("stages of a variable");
    if (!first["stages"])
      return { js: unit.emit(first, scope).js, taken: 1, ofContext: false, listed: false };
  }
  return { js: context, taken: 0, ofContext: true, listed: false };
}

/** An array constructor in front of a path is evaluated once, for all of the context. */
function constructed(first: Node, scope: Scope): string {
  if (first.type !== "unary" || stagesOf(first).length > 0)
    throw new NotCompiled("a path from an array constructor with a predicate or in a block");
  const { unit, context } = scope;
  return `(${closure(scope, (inner) => unit.emit(first, inner).js)})(${unit.use("contextItems")}(${context}))`;
}

/** Steps on the whole list that was found, or on each of its members. */
function step(list: string, node: Node, last: boolean, scope: Scope, emit: Emit): string {
  const { unit } = scope;
  if (node.type === "sort") return filtered(sorted(list, node, scope), node, scope);
  const evaluate = closure(scope, (inner) => {
    const value = node.type === "name" ? nameIn(node, inner) : emit(stepItself(node), inner).js;
    return node["stages"] ? filtered(value, node, inner) : value;
  });
  return `${unit.use("step")}(${list}, ${evaluate}, ${last})`;
}

function sorted(list: string, node: Node, scope: Scope): string {
  const terms = termsOf(node, (term) => closure(scope, (inner) => scope.unit.emit(term, inner).js));
  return `${scope.unit.use("orderBy")}(${list}, ${terms}, ${positionOf(node, scope)})`;
}

const arrayOf = (names: readonly string[]): string => `[${names.map(quote).join(", ")}]`;

/** A path of names alone, which finds one value: the commonest kind. */
function emitNames({ js, ofContext }: Start, names: readonly string[], scope: Scope): Code {
  const { unit } = scope;
  const end = (value: string): string => value;
  const otherwise = (value: string, rest: readonly string[]): string => {
    const list = ofContext && rest.length === names.length ? value : `${unit.use("items")}(${value})`;
    const found = `${unit.use("collapse")}(${unit.use("follow")}(${list}, ${arrayOf(rest)}, true))`;
    return `Array.isArray(${value}) ? ${found} : undefined`;
  };
  return { js: readNames(js, names, scope, end, otherwise), kind: "value" };
}

/** The list that a path finds with its first steps: its start, and the names behind it. */
function listOf(
  { js, ofContext, listed }: Start,
  names: readonly string[],
  last: boolean,
  scope: Scope,
): string {
  const { unit } = scope;
  const items = (value: string): string => `${unit.use("items")}(${value})`;
  const follow = (list: string, rest: readonly string[]): string =>
    `${unit.use("follow")}(${list}, ${arrayOf(rest)}, ${last})`;
  if (listed) return names.length > 0 ? follow(js, names) : js;
  if (names.length === 0) return ofContext ? `${unit.use("contextItems")}(${js})` : items(js);
  return readNames(js, names, scope, items, (value, rest) => {
    const list =
      ofContext && rest.length === names.length ? `${unit.use("contextItems")}(${value})` : items(value);
    return follow(list, rest);
  });
}

/** `emitLast` writes what the last step finds. */
export function emitPath(node: Node, scope: Scope, emitLast: Emit = scope.unit.emit): Code {
  const steps = node["steps"] as readonly Node[];
  if (steps.some((part) => part["tuple"])) return emitTuplePath(node, scope);
  const start = startOf(steps, scope);
  let at = start.taken;
  while (at < steps.length && isPlainName(steps[at] as Node)) at += 1;
  const names = steps.slice(start.taken, at).map(({ value }) => String(value));
  const isList = keepsOne(node) || groupingOf(node) !== undefined || start.listed;
  if (at === steps.length && names.length > 0 && !isList) return emitNames(start, names, scope);
  const onwards = (from: Start): string =>
    steps.slice(at).reduce(
      (found, part, index) => {
        const last = at + index === steps.length - 1;
        return step(found, part, last, scope, last ? emitLast : scope.unit.emit);
      },
      listOf(from, names, at === steps.length, scope),
    );
  const found = ended(start.listed ? unlessEmpty(start, onwards, scope) : onwards(start), node, scope);
  const [name] = names;
  return name === undefined || groupingOf(node) ? found : unlessMissing(start, name, found, scope);
}

/** Nothing comes of a path whose first name is missing: what stands behind it needn't be gone. */
function unlessMissing({ js }: Start, name: string, found: Code, scope: Scope): Code {
  const value = temporary(scope);
  const missing = `${scope.unit.use("isRecord")}(${value} = ${js}) && ${member(value, name)} === undefined`;
  return { js: `(${missing} ? undefined : ${found.js})`, kind: found.kind };
}

/** A path from an empty array constructor ends with it. */
function unlessEmpty(start: Start, onwards: (from: Start) => string, scope: Scope): string {
  const array = temporary(scope);
  return `((${array} = ${start.js}).length === 0 ? ${array} : ${onwards({ ...start, js: array })})`;
}

/** What a path found as a value. */
function ended(list: string, node: Node, scope: Scope): Code {
  const { unit } = scope;
  const grouping = groupingOf(node);
  if (grouping) return emitGrouping(list, grouping, scope);
  return { js: `${unit.use(keepsOne(node) ? "keep" : "collapse")}(${list})`, kind: "value" };
}
