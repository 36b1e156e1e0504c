import { asNode, childrenOf, stagesOf, type AstNode } from "../language/ast.ts";
import { emitMemberAccess, NotCompilableError, quote, type Code } from "./code.ts";
import { emitClosure, declareTemporary, type Scope } from "./scope.ts";
import {
  emitPredicates,
  isBare,
  keepsSingleton,
  emitNameStep,
  withoutStages,
  emitSortTerms,
} from "./steps.ts";

const isPlainName = (step: AstNode): boolean =>
  step.type === "name" && isBare(step) && stagesOf(step).length === 0;

/**
 * Emits nested member reads from one value.
 *
 * @param end Emits the result after the last name, if all values on the way were single objects.
 * @param otherwise Emits the result if a value on the way is not a single object.
 */
function emitNameReads(
  start: string,
  names: readonly string[],
  scope: Scope,
  end: (value: string) => string,
  otherwise: (value: string, rest: readonly string[]) => string,
): string {
  const value = declareTemporary(scope);
  const read = (from: string, index: number): string => {
    const name = names[index];
    if (name === undefined) return end(from);
    const deeper = read(emitMemberAccess(value, name), index + 1);
    return `(${scope.unit.useHelper("isRecord")}(${value} = ${from}) ? ${deeper} : ${otherwise(value, names.slice(index))})`;
  };
  return read(start, 0);
}

/** The start of a path: the code of its first value, and the number of steps that this code covers. */
interface PathStart {
  readonly js: string;
  readonly stepCount: number;
  /** Whether the first value is the context. */
  readonly isContext: boolean;
}

function emitStart(steps: readonly AstNode[], scope: Scope): PathStart {
  const { unit, context } = scope;
  const first = asNode(steps[0]);
  if (first.type !== "variable") return { js: context, stepCount: 0, isContext: true };
  if (first["stages"]) throw new NotCompilableError("stages of a variable");
  return { js: unit.emit(first, scope).js, stepCount: 1, isContext: false };
}

/** Emits one step over a list of results. */
function emitStep(list: string, node: AstNode, last: boolean, scope: Scope): string {
  const { unit } = scope;
  if (node.type === "sort") return emitPredicates(emitSort(list, node, scope), node, scope);
  const evaluate = emitClosure(scope, (inner) => {
    const value = node.type === "name" ? emitNameStep(node, inner) : unit.emit(withoutStages(node), inner).js;
    return node["stages"] ? emitPredicates(value, node, inner) : value;
  });
  return `${unit.useHelper("applyStep")}(${list}, ${evaluate}, ${last})`;
}

function emitSort(list: string, node: AstNode, scope: Scope): string {
  const terms = emitSortTerms(node, (term) => emitClosure(scope, (inner) => scope.unit.emit(term, inner).js));
  return `${scope.unit.useHelper("orderBy")}(${list}, ${terms})`;
}

const arrayOf = (names: readonly string[]): string => `[${names.map(quote).join(", ")}]`;

/** Emits a path that only contains names, the most common kind. */
function emitNames({ js }: PathStart, names: readonly string[], scope: Scope): Code {
  const otherwise = (value: string, rest: readonly string[]): string =>
    `${scope.unit.useHelper("readPath")}(${value}, ${arrayOf(rest)})`;
  return { js: emitNameReads(js, names, scope, (value) => value, otherwise), kind: "value" };
}

/** Emits the list of results of the first steps: the start, and the names after it. */
function emitLeadingList(
  { js, isContext }: PathStart,
  names: readonly string[],
  last: boolean,
  scope: Scope,
): string {
  const { unit } = scope;
  if (names.length === 0) return `${unit.useHelper(isContext ? "listContextItems" : "listItems")}(${js})`;
  const items = (value: string): string => `${unit.useHelper("listItems")}(${value})`;
  const otherwise = (value: string, rest: readonly string[]): string =>
    `${unit.useHelper("followNames")}(${items(value)}, ${arrayOf(rest)}, ${last})`;
  return emitNameReads(js, names, scope, items, otherwise);
}

/**
 * Emits a path. As long as values are single objects, a step reads a member. From the first list or the first step that is
 * not a plain name, steps are helpers that iterate over lists.
 */
export function emitPath(node: AstNode, scope: Scope): Code {
  const steps = childrenOf(node, "steps");
  if (steps.some((part) => part["tuple"]))
    throw new NotCompilableError("a path that binds variables with @, # or %");
  const start = emitStart(steps, scope);
  const plain = steps.slice(start.stepCount).findIndex((step) => !isPlainName(step));
  const at = plain === -1 ? steps.length : start.stepCount + plain;
  const names = steps.slice(start.stepCount, at).map(({ value }) => String(value));
  if (at === steps.length && names.length > 0 && !keepsSingleton(node)) return emitNames(start, names, scope);
  const list = steps
    .slice(at)
    .reduce(
      (found, part, index) => emitStep(found, part, at + index === steps.length - 1, scope),
      emitLeadingList(start, names, at === steps.length, scope),
    );
  return emitPathEnd(list, node, scope);
}

/** Emits the value of a path from its list of results. */
function emitPathEnd(list: string, node: AstNode, { unit }: Scope): Code {
  return {
    js: `${unit.useHelper(keepsSingleton(node) ? "collapseKeepingList" : "collapse")}(${list})`,
    kind: "value",
  };
}
