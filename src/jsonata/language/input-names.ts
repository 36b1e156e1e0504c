import { asNode, calledName, childrenOf, isNode, isPlain, type AstNode } from "./ast.ts";

/**
 * The members of the input that an expression reads, each with the members that the expression reads from it; `all` if
 * it may read any member.
 */
export type InputNames = ReadonlyMap<string, InputNames> | "all";

type Names = Map<string, Names | "all">;

/** Functions that use the context for a missing argument, with the number of their arguments. */
const ARGUMENT_COUNTS: Readonly<Record<string, number>> = {
  string: 1,
  boolean: 1,
  not: 1,
  keys: 1,
  spread: 1,
  clone: 1,
  lookup: 2,
  each: 2,
  sift: 2,
};

/** Types of nodes that read the whole input, or its parent. */
const READS_ALL_TYPES = new Set(["wildcard", "descendant", "parent", "transform"]);

/** Thrown to end the search: the expression may read any member. */
class ReadsAll extends Error {}

function throwReadsAll(): never {
  throw new ReadsAll();
}

/** Adds a path from the input. The expression reads the whole value of the last member. */
function addPath(names: Names, [name = "", ...others]: readonly string[]): void {
  // Generated code can't create an object with an own member `__proto__`.
  if (name === "__proto__") throwReadsAll();
  const present = names.get(name);
  if (present === "all") return;
  if (others.length === 0) return void names.set(name, "all");
  const members: Names = present ?? new Map();
  names.set(name, members);
  addPath(members, others);
}

/**
 * Collects the names that a node reads from the input.
 *
 * @param onInput Whether the context is the input here. Names that are read from other values don't matter.
 */
function visit(value: unknown, onInput: boolean, names: Names): void {
  if (Array.isArray(value)) return value.forEach((item) => visit(item, onInput, names));
  if (typeof value !== "object" || value === null) return;
  if (!isNode(value)) return Object.values(value).forEach((part) => visit(part, onInput, names));
  const { type, value: text } = value;
  if (type === "path") return visitPath(value, onInput, names);
  if (type === "name" && onInput) addPath(names, [String(text)]);
  if (type === "variable" && (text === "$" || (text === "" && onInput))) throwReadsAll();
  // A step that binds a variable does not change the context.
  if (READS_ALL_TYPES.has(type) || value["tuple"] === true || value["focus"] !== undefined) throwReadsAll();
  if (type === "lambda" && value["signature"] !== undefined) throwReadsAll();
  if (type === "function" && onInput) visitCall(value);
  // A function runs in the context of its caller, which may be any value.
  for (const part of Object.values(value)) visit(part, onInput || type === "lambda", names);
}

function visitCall(node: AstNode): void {
  const least = ARGUMENT_COUNTS[calledName(node) ?? ""];
  if (least !== undefined && childrenOf(node, "arguments").length < least) throwReadsAll();
}

/** Only the first step of a path reads from the context. Later steps read the result of the previous step. */
function visitPath(path: AstNode, onInput: boolean, names: Names): void {
  const all = childrenOf(path, "steps");
  const [first, second] = [asNode(all[0]), all[1]];
  if (second?.type === "name" && second["tuple"] !== true && isInput(first, onInput)) {
    addPath(names, namesFrom(all, 1));
  } else if (onInput && isPlain(first, "name")) {
    addPath(names, namesFrom(all, 0));
  } else {
    const { stages, predicate, group: grouping, ...itself } = first;
    visit(itself, onInput, names);
    visit([stages, predicate, grouping], false, names);
  }
  visit([all.slice(1), path.group], false, names);
}

/** Returns the names from a step on, up to the first step that is not a plain name. */
function namesFrom(steps: readonly AstNode[], from: number): string[] {
  const plain = steps.slice(from).findIndex((step) => !isPlain(step, "name"));
  const end = plain === -1 ? steps.length : from + plain;
  const next = steps[end];
  // A predicate after a name reads the value of that name.
  return [...steps.slice(from, end), ...(next?.type === "name" ? [next] : [])].map(({ value }) =>
    String(value),
  );
}

/** Whether a node is the input itself, without predicates: `$$`, or `$` if the context is the input. */
const isInput = (node: AstNode, onInput: boolean): boolean =>
  isPlain(node, "variable") && (node.value === "$" || (node.value === "" && onInput));

/**
 * Finds the members of its input that an expression reads; `all` if the syntax tree does not show them.
 *
 * An input with only these members has the same result. Values that are not objects must remain whole, because a path
 * reads from each item of an array.
 *
 * @param isContext Whether `$` is the input as well as `$$`.
 */
export function findInputNames(ast: AstNode, isContext = true): InputNames {
  const names: Names = new Map();
  try {
    visit(ast, isContext, names);
  } catch (error) {
    if (error instanceof ReadsAll) return "all";
    throw error;
  }
  return names;
}
