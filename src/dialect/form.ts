/**
 * Bodies of the type `application/x-www-form-urlencoded`, with bracket names for nested values: `address[city]`, `tags[]`,
 * `items[0][name]`.
 *
 * Own code: `qs` keeps malformed escapes, merges values that contradict each other, drops names such as `constructor`, and
 * decides by the number of an index whether it has a list. Here a form that is not clear is an error, and the schema of the
 * body decides what is a list (`mapping/compile/form-values.ts`).
 */
import { isExactNumber, isObject, printJson } from "./json/parse.ts";

/** A value of a form. It has no numbers, and a list with indexes is an object with the indexes as names. */
export type FormValue = string | readonly string[] | FormObject;
export interface FormObject {
  readonly [name: string]: FormValue;
}

export interface FormLimits {
  /** Brackets of one name. */
  readonly maxDepth: number;
  /** Values in total, objects included. */
  readonly maxValues: number;
  /** Characters of a name between brackets. Default: no limit. */
  readonly maxNameLength?: number;
}

/** A value while the form is parsed. A name may not have both a value and members. */
interface Node {
  readonly values: string[];
  readonly members: Map<string, Node>;
  /** Whether a name ended with `[]`. */
  isList: boolean;
}

const createNode = (): Node => ({ values: [], members: new Map(), isList: false });

/** @throws {SyntaxError} If an escape is malformed, or the bytes of escapes are not UTF-8. */
function decode(text: string): string {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new SyntaxError("a malformed escape");
  }
}

/** Splits `a[b][]` into `a`, `b` and an empty key. A name whose brackets are not complete is one key. */
function splitName(name: string, maxDepth: number): string[] {
  const first = name.indexOf("[");
  if (first <= 0 || !name.endsWith("]")) return [name];
  const keys = [name.slice(0, first)];
  for (let open = first; open < name.length;) {
    const close = name.indexOf("]", open);
    const isComplete = name[open] === "[" && close > open && !name.slice(open + 1, close).includes("[");
    if (!isComplete) return [name];
    if (keys.length >= maxDepth) throw new RangeError(`form nested deeper than ${maxDepth} levels`);
    keys.push(name.slice(open + 1, close));
    open = close + 1;
  }
  return keys;
}

function valueOf({ values, members, isList }: Node): FormValue {
  const [only] = values;
  if (members.size > 0) {
    if (only !== undefined) throw new SyntaxError("a name with a value and with members");
    return objectOf(members);
  }
  return values.length === 1 && !isList && only !== undefined ? only : values;
}

/** Not by assignment: a member `__proto__` is a member like any other. */
const objectOf = (members: ReadonlyMap<string, Node>): FormObject =>
  Object.fromEntries([...members].map(([name, node]) => [name, valueOf(node)]));

/**
 * Parses a form. A name that comes several times, or ends with `[]`, has a list of its values.
 *
 * @throws {SyntaxError} If an escape is malformed or not UTF-8, or a name has contradicting values. No message has any of
 *   the text, which may be a secret.
 * @throws {RangeError} If it is nested deeper, has more values or has longer names than allowed.
 */
export function parseForm(
  text: string,
  { maxDepth, maxValues, maxNameLength = Infinity }: FormLimits,
): FormObject {
  const root = createNode();
  let count = 0;
  const child = (node: Node, key: string): Node => {
    const found = node.members.get(key);
    if (found) return found;
    const created = createNode();
    node.members.set(key, created);
    if ((count += 1) > maxValues) throw new RangeError(`form of more than ${maxValues} values`);
    return created;
  };
  const addPair = (name: string, value: string): void => {
    const keys = splitName(name, maxDepth);
    if (keys.some((key) => key.length > maxNameLength))
      throw new RangeError(`name of more than ${maxNameLength} characters`);
    const isList = keys.length > 1 && keys.at(-1) === "";
    if (isList) keys.pop();
    // `a[][b]` does not say which item of the list has the member.
    if (keys.slice(1).includes("")) throw new SyntaxError("a list of objects without indexes");
    const node = keys.reduce(child, root);
    node.isList ||= isList;
    node.values.push(value);
    if (node.values.length > 1 && (count += 1) > maxValues)
      throw new RangeError(`form of more than ${maxValues} values`);
  };
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf("&", start);
    if (end < 0) end = text.length;
    const equals = text.slice(start, end).indexOf("=");
    const nameEnd = equals < 0 ? end : start + equals;
    if (end > start) addPair(decode(text.slice(start, nameEnd)), decode(text.slice(nameEnd + 1, end)));
  }
  return objectOf(root.members);
}

/** How a form repeats the values of a list: `tags[]=a`, `tags[0]=a` or `tags=a`. */
export type FormLists = "brackets" | "indexes" | "repeat";

const listSuffix = (lists: FormLists, index: number): string =>
  lists === "indexes" ? `[${index}]` : lists === "brackets" ? "[]" : "";

/** The text of a value. What is empty is an empty text. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const isScalar = typeof value === "number" || typeof value === "boolean" || isExactNumber(value);
  return isScalar ? printJson(value) : "";
}

/**
 * Maximum length of all names of a printed form. Each value repeats the names that lead to it, so that a long name above
 * many values would fill the memory.
 */
const MAX_NAMES_LENGTH = 1_000_000;

/** Items that are objects or lists have an index in each style. Without one, nobody could assign their members. */
function* pairsOf(name: string, value: unknown, lists: FormLists): Generator<[string, string]> {
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) {
      const isNested = Array.isArray(item) || isObject(item);
      yield* pairsOf(name + (isNested ? `[${index}]` : listSuffix(lists, index)), item, lists);
    }
  } else if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, member] of Object.entries(value)) {
      // `a[]` and `a[b][c]` have another meaning.
      if (key === "" || /[[\]]/.test(key)) throw new SyntaxError("a name that is empty or has brackets");
      yield* pairsOf(`${name}[${key}]`, member, lists);
    }
  } else yield [name, textOf(value)];
}

/**
 * Prints an object as a form. Null, an empty list and an empty object are empty texts.
 *
 * @throws {SyntaxError} If the name of a nested value is empty or has brackets.
 * @throws {RangeError} If the names of all values together are too long.
 */
export function printForm(value: Readonly<Record<string, unknown>>, lists: FormLists): string {
  const pairs: [string, string][] = [];
  let length = 0;
  for (const [name, member] of Object.entries(value))
    for (const pair of pairsOf(name, member, lists)) {
      length += pair[0].length;
      if (length > MAX_NAMES_LENGTH)
        throw new RangeError(`names of more than ${MAX_NAMES_LENGTH} characters`);
      pairs.push(pair);
    }
  return new URLSearchParams(pairs).toString();
}
