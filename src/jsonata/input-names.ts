import type { Node } from "./ast.ts";

/** What an expression reads of its input: members by name, and of each the same again, or anything there may be. */
export type InputNames = ReadonlyMap<string, InputNames> | "all";

type Names = Map<string, Names | "all">;

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

/** Adds a path from the input on: all of its last member is read. */
function addPath(names: Names, [name = "", ...others]: readonly string[]): void {
  // A member of this name is no ordinary one, so that an input can't be made of it.
  if (name === "__proto__") seesAll();
  const known = names.get(name);
  if (known === "all") return;
  if (others.length === 0) return void names.set(name, "all");
  const members: Names = known ?? new Map();
  names.set(name, members);
  addPath(members, others);
}

/** `onInput`: the input is the context here. Names that are looked up in anything else do no harm. */
function visit(value: unknown, onInput: boolean, names: Names): void {
  if (Array.isArray(value)) return value.forEach((item) => visit(item, onInput, names));
  if (typeof value !== "object" || value === null) return;
  if (!isNode(value)) return Object.values(value).forEach((part) => visit(part, onInput, names));
  const { type, value: text } = value;
  if (type === "path") return visitPath(value, onInput, names);
  if (type === "name" && onInput) addPath(names, [String(text)]);
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
function visitPath({ steps, group }: Node, onInput: boolean, names: Names): void {
  const all = steps as readonly Node[];
  const [first, second] = all as readonly [Node, Node?];
  if (second?.type === "name" && second["tuple"] !== true && isInput(first, onInput)) {
    addPath(names, namesFrom(all, 1));
  } else if (onInput && isPlainName(first)) {
    addPath(names, namesFrom(all, 0));
  } else {
    const { stages, predicate, group: grouping, ...itself } = first;
    visit(itself, onInput, names);
    visit([stages, predicate, grouping], false, names);
  }
  visit([all.slice(1), group], false, names);
}

/** The names from a step on, up to the first step that does more than to look up a name. */
function namesFrom(steps: readonly Node[], from: number): string[] {
  const plain = steps.slice(from).findIndex((step) => !isPlainName(step));
  const end = plain === -1 ? steps.length : from + plain;
  const next = steps[end];
  // A filter or the like behind a name sees what stands under that name.
  return [...steps.slice(from, end), ...(next?.type === "name" ? [next] : [])].map(({ value }) =>
    String(value),
  );
}

/** A name, with nothing done to what it finds. */
const isPlainName = ({ type, value: _name, position: _position, ...rest }: Node): boolean =>
  type === "name" && Object.keys(rest).length === 0;

/** `$$`, or `$` where that is the same, with nothing behind it but the path's next step. */
const isInput = ({ type, value, ...rest }: Node, onInput: boolean): boolean =>
  type === "variable" &&
  (value === "$" || (value === "" && onInput)) &&
  Object.keys(rest).every((part) => part === "position");

/**
 * The members of its input that an expression reads, as far as they can be told from its syntax tree. An input with
 * only these gives the same result, as long as what is no object stays as it is: a path looks into each item of an
 * array.
 */
export function inputNames(ast: Node): InputNames {
  const names: Names = new Map();
  try {
    visit(ast, true, names);
  } catch (error) {
    if (error instanceof SeesAll) return "all";
    throw error;
  }
  return names;
}
