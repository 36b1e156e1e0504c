/**
 * Bodies of the type `application/x-www-form-urlencoded`, with bracket names for nested values: `address[city]`,
 * `tags[]`, `items[0][name]`, `items[][name]`.
 *
 * Own code: `qs` keeps malformed escapes, merges contradicting values, drops names such as `constructor`, and
 * recognizes lists by the size of an index. Here an ambiguous form is an error, and the schema of the body defines
 * which values are lists (`form-values.ts`).
 */
import { isExactNumber, isObject, printJson } from "../../base/index.ts";

/** A value of a form. It contains no numbers, and a list with indexes is an object with the indexes as names. */
type FormValue = string | readonly string[] | readonly FormObject[] | FormObject;
interface FormObject {
  readonly [name: string]: FormValue;
}

interface FormLimits {
  /** Maximum number of brackets in one name. */
  readonly maxDepth: number;
  /** Maximum total number of values, objects included. */
  readonly maxValues: number;
  /** Maximum number of characters of a name between brackets. Default: no limit. */
  readonly maxNameLength?: number;
}

/** A value during the parsing of a form. A name may not have both a value and members. */
interface Node {
  readonly values: string[];
  readonly members: Map<string, Node>;
  /** Whether a name ended with `[]`. */
  isList: boolean;
  /** The objects of a list without indexes, `items[][name]`. */
  readonly items: Node[];
}

const createNode = (): Node => ({ values: [], members: new Map(), isList: false, items: [] });

/** Whether an item of a list without indexes already contains a member. A list in it may receive more values. */
function hasMember(item: Node, keys: readonly string[]): boolean {
  if (keys.includes("")) return false;
  const found = keys.reduce<Node | undefined>((node, key) => node?.members.get(key), item);
  return found !== undefined;
}

/** @throws {SyntaxError} If an escape is malformed, or the bytes of escapes are not UTF-8. */
function decode(text: string): string {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new SyntaxError("a malformed escape");
  }
}

/** Splits `a[b][]` into `a`, `b` and an empty key. A name with incomplete brackets is one key. */
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

function valueOf({ values, members, isList, items }: Node): FormValue {
  const [only] = values;
  if ([values, items].filter(({ length }) => length > 0).length + Number(members.size > 0) > 1)
    throw new SyntaxError("a name with a value and with members");
  if (items.length > 0) return items.map((item) => objectOf(item.members));
  if (members.size > 0) return objectOf(members);
  return values.length === 1 && !isList && only !== undefined ? only : values;
}

/** The members are not assigned, because `__proto__` must remain an ordinary member. */
const objectOf = (members: ReadonlyMap<string, Node>): FormObject =>
  Object.fromEntries([...members].map(([name, node]) => [name, valueOf(node)]));

/**
 * Parses a form. A name that occurs several times, or ends with `[]`, has a list of values. `items[][name]` is a member
 * of the last object of a list, or of a new object if the last one already contains that member.
 *
 * @throws {SyntaxError} If an escape is malformed or not UTF-8, or a name has contradicting values. No message contains
 *   any of the text, which may be a secret.
 * @throws {RangeError} If it is nested deeper, or contains more values or longer names than allowed.
 */
export function parseForm(
  text: string,
  { maxDepth, maxValues, maxNameLength = Infinity }: FormLimits,
): FormObject {
  const root = createNode();
  let count = 0;
  const create = (): Node => {
    if ((count += 1) > maxValues) throw new RangeError(`form of more than ${maxValues} values`);
    return createNode();
  };
  const child = (node: Node, key: string): Node => {
    const found = node.members.get(key);
    if (found) return found;
    const created = create();
    node.members.set(key, created);
    return created;
  };
  /** Returns the object in a list without indexes that receives a member. @param rest Keys after the brackets. */
  const itemOf = ({ items }: Node, rest: readonly string[]): Node => {
    const last = items.at(-1);
    if (last && !hasMember(last, rest)) return last;
    const created = create();
    items.push(created);
    return created;
  };
  const addPair = (name: string, value: string): void => {
    const keys = splitName(name, maxDepth);
    if (keys.some((key) => key.length > maxNameLength))
      throw new RangeError(`name of more than ${maxNameLength} characters`);
    const isList = keys.length > 1 && keys.at(-1) === "";
    if (isList) keys.pop();
    // `a[][]` does not define which list contains the value.
    if (keys.some((key, index) => key === "" && index > 0 && (keys[index + 1] ?? "") === ""))
      throw new SyntaxError("a list of lists without indexes");
    const path = isList ? [...keys, ""] : keys;
    const node = keys.reduce(
      (outer, key, index) =>
        key === "" && index > 0 ? itemOf(outer, path.slice(index + 1)) : child(outer, key),
      root,
    );
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
type FormLists = "brackets" | "indexes" | "repeat";

/** The style of lists, and of objects in a list: `items[0][name]=a` or `items[][name]=a`. */
export interface FormStyle {
  readonly lists: FormLists;
  readonly objects: "indexes" | "brackets";
}

/** The message of {@link printForm} about a list that a form without indexes can't represent. */
export const NOT_SEPARATE = "a list of objects that nothing separates";

/**
 * Without an index, a new object of a list starts if a member occurs again. So the value of its first member must not be
 * a list, and the previous object must have a member with the same name.
 */
function beginsObject(item: unknown, before: unknown): boolean {
  const [first] = isObject(item) ? Object.entries(item) : [];
  if (!first || !isObject(before)) return false;
  const [key, value] = first;
  return !Array.isArray(value) && Object.hasOwn(before, key);
}

const listSuffix = (lists: FormLists, index: number): string =>
  lists === "indexes" ? `[${index}]` : lists === "brackets" ? "[]" : "";

/** Returns the text of a value. An empty value becomes an empty text. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const isScalar = typeof value === "number" || typeof value === "boolean" || isExactNumber(value);
  return isScalar ? printJson(value) : "";
}

/**
 * Maximum length of all names of a printed form. Each value repeats the names that lead to it, so a long name above
 * many values would fill the memory.
 */
const MAX_NAMES_LENGTH = 1_000_000;

/** Items that are lists have an index in each style. By default, items that are objects have one as well. */
function* pairsOf(name: string, value: unknown, style: FormStyle): Generator<[string, string]> {
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) {
      const isObjectInBrackets = isObject(item) && style.objects === "brackets";
      if (isObjectInBrackets && index > 0 && !beginsObject(item, value[index - 1]))
        throw new SyntaxError(NOT_SEPARATE);
      const isNested = !isObjectInBrackets && (Array.isArray(item) || isObject(item));
      const suffix = isObjectInBrackets ? "[]" : isNested ? `[${index}]` : listSuffix(style.lists, index);
      yield* pairsOf(name + suffix, item, style);
    }
  } else if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, member] of Object.entries(value)) {
      // `a[]` and `a[b][c]` would have a different meaning.
      if (key === "" || /[[\]]/.test(key)) throw new SyntaxError("a name that is empty or has brackets");
      yield* pairsOf(`${name}[${key}]`, member, style);
    }
  } else yield [name, textOf(value)];
}

/**
 * Prints an object as a form. Null, an empty list and an empty object are empty texts.
 *
 * @throws {SyntaxError} If the name of a nested value is empty or contains brackets, or with {@link NOT_SEPARATE}.
 * @throws {RangeError} If the names of all values together are too long.
 */
export function printForm(
  value: Readonly<Record<string, unknown>>,
  lists: FormLists,
  objects: FormStyle["objects"] = "indexes",
): string {
  const style = { lists, objects };
  const pairs: [string, string][] = [];
  let length = 0;
  for (const [name, member] of Object.entries(value))
    for (const pair of pairsOf(name, member, style)) {
      length += pair[0].length;
      if (length > MAX_NAMES_LENGTH)
        throw new RangeError(`names of more than ${MAX_NAMES_LENGTH} characters`);
      pairs.push(pair);
    }
  return new URLSearchParams(pairs).toString();
}
