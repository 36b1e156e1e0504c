import type { Node } from "./ast.ts";

/** What an expression reads of its input: members by name, or anything there may be. */
export type InputNames = ReadonlySet<string> | "all";

/** Functions that the input as a whole can stand in for an argument of, and how many arguments they take. */
const TAKES_INPUT: Readonly<Record<string, number>> = {
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

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** Kinds of nodes that see all of the input, or of what it is a part of. */
const SEES_ALL = new Set(["wildcard", "descendant", "parent", "transform"]);

class SeesAll extends Error {}

function seesAll(): never {
  throw new SeesAll();
}

/** `onInput`: the input is the context here. Names that are looked up in anything else do no harm. */
function visit(value: unknown, onInput: boolean, names: Set<string>): void {
  if (Array.isArray(value)) return value.forEach((item) => visit(item, onInput, names));
  if (typeof value !== "object" || value === null) return;
  if (!isNode(value)) return Object.values(value).forEach((part) => visit(part, onInput, names));
  const { type, value: text } = value;
  if (type === "path") return visitPath(value, onInput, names);
  if (type === "name" && onInput) names.add(String(text));
  if (type === "variable" && (text === "$" || (text === "" && onInput))) seesAll();
  // A step that binds a variable goes on with what it started from.
  if (SEES_ALL.has(type) || value["tuple"] === true || value["focus"] !== undefined) seesAll();
  if (type === "lambda" && value["signature"] !== undefined) seesAll();
  if (type === "function" && onInput) visitCall(value);
  // A function has the context of the place that calls it.
  for (const part of Object.values(value)) visit(part, onInput || type === "lambda", names);
}

function visitCall(node: Node): void {
  const { type, value: name } = node["procedure"] as Node;
  const least = type === "variable" ? TAKES_INPUT[String(name)] : undefined;
  if (least !== undefined && (node["arguments"] as readonly Node[]).length < least) seesAll();
}

/** Only the first step of a path starts from the context; what stands behind it sees what it found. */
function visitPath({ steps, group }: Node, onInput: boolean, names: Set<string>): void {
  const [first, second] = steps as readonly [Node, Node?];
  if (second?.type === "name" && second["tuple"] !== true && isInput(first, onInput)) {
    names.add(String(second.value));
  } else {
    const { stages, predicate, group: grouping, ...itself } = first;
    visit(itself, onInput, names);
    visit([stages, predicate, grouping], false, names);
  }
  visit([(steps as readonly Node[]).slice(1), group], false, names);
}

/** `$$`, or `$` where that is the same, with nothing behind it but the path's next step. */
const isInput = ({ type, value, ...rest }: Node, onInput: boolean): boolean =>
  type === "variable" &&
  (value === "$" || (value === "" && onInput)) &&
  Object.keys(rest).every((part) => part === "position");

/** The members of its input that an expression reads, as far as they can be told from its syntax tree. */
export function inputNames(ast: Node): InputNames {
  const names = new Set<string>();
  try {
    visit(ast, true, names);
  } catch (error) {
    if (error instanceof SeesAll) return "all";
    throw error;
  }
  return names.has("__proto__") ? "all" : names;
}
