/** Changes values in the text of a YAML file. Comments and the form of everything else stay. */
import { isDeepStrictEqual } from "node:util";
import {
  Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { isObject } from "../../base/index.ts";
import { expandRepeats } from "./example.ts";

/** A part of a text, and what replaces it. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A value as YAML on one line. */
function inline(value: unknown): string {
  const document = new Document([value]);
  if (isSeq(document.contents)) document.contents.flow = true;
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: true }).trim();
  return text.slice(1, -1).trim();
}

const rangeOf = (node: unknown): readonly [number, number, number] =>
  (node as Node | null)?.range ?? [0, 0, 0];

const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : String(key));

/** The end of a pair, without the comments and blank lines after it. */
const endOf = (text: string, { key, value }: Pair): number => {
  const [, end, after] = rangeOf(value ?? key);
  // The value of a block ends with its line.
  return text[end - 1] === "\n" || after < end ? end - 1 : end;
};

const lineStart = (text: string, offset: number): number => text.lastIndexOf("\n", offset - 1) + 1;

function insertPair(
  text: string,
  map: YAMLMap,
  before: Pair | undefined,
  [name, value]: readonly [string, unknown],
): TextEdit {
  const pair = inline({ [name]: value })
    .slice(1, -1)
    .trim();
  const [first] = map.items;
  const [start] = rangeOf(before?.key ?? first?.key);
  if (!first) return { start: rangeOf(map)[0], end: rangeOf(map)[1], text: `{ ${pair} }` };
  const indent = " ".repeat(start - lineStart(text, start));
  if (!before) return { start, end: start, text: map.flow ? `${pair}, ` : `${pair}\n${indent}` };
  const end = endOf(text, before);
  return { start: end, end, text: map.flow ? `, ${pair}` : `\n${indent}${pair}` };
}

function removePair(text: string, map: YAMLMap, index: number): TextEdit {
  const pair = map.items[index];
  const [before, after] = [map.items[index - 1], map.items[index + 1]];
  if (!pair || (!before && !after)) return { start: rangeOf(map)[0], end: rangeOf(map)[1], text: "{}" };
  if (before) return { start: endOf(text, before), end: endOf(text, pair), text: "" };
  return { start: rangeOf(pair.key)[0], end: rangeOf(after?.key)[0], text: "" };
}

function editMap(text: string, map: YAMLMap, was: object, is: object): TextEdit[] {
  const [old, now] = [Object.entries(was), new Map(Object.entries(is))];
  const pairs = map.items.filter((item) => isPair(item));
  const find = (name: string | undefined): Pair | undefined => pairs.find((pair) => keyOf(pair) === name);
  const remaining = old.map(([name]) => name).filter((name) => now.has(name));
  const removed = old.flatMap(([name]) => {
    const index = pairs.findIndex((pair) => keyOf(pair) === name);
    return now.has(name) || index < 0 ? [] : [removePair(text, map, index)];
  });
  if (remaining.length === 0) return [replace(text, map, is)];
  const changed = old.flatMap(([name, value]) => {
    const pair = find(name);
    return pair && now.has(name) ? editNode(text, pair.value as Node | null, value, now.get(name), pair) : [];
  });
  const names = [...now.keys()];
  const added = names.flatMap((name, index) => {
    if (find(name)) return [];
    const before = names.slice(0, index).findLast((each) => remaining.includes(each));
    return [insertPair(text, map, find(before), [name, now.get(name)])];
  });
  return [...removed, ...changed, ...added];
}

/** The items of the expanded list, grouped by the written item that they come from. */
function itemSpans(
  list: YAMLSeq,
): { readonly node: Node; readonly count: number; readonly template?: Node }[] {
  return list.items.map((item) => {
    const node = item as Node;
    const repeat = isMap(node) ? node.get("repeat") : undefined;
    const template = isMap(node) ? node.get("of", true) : undefined;
    return typeof repeat === "number" && template
      ? { node, count: repeat, template: template as unknown as Node }
      : { node, count: 1 };
  });
}

function editList(text: string, list: YAMLSeq, was: readonly unknown[], is: readonly unknown[]): TextEdit[] {
  if (was.length !== is.length) return [replace(text, list, is)];
  let at = 0;
  return itemSpans(list).flatMap(({ node, count, template }) => {
    const [start, end] = [at, (at += count)];
    if (!template) return editNode(text, node, was[start], is[start]);
    // One change of all items is a change of their template.
    const edits = Array.from({ length: end - start }, (_, index) =>
      editNode(text, template, was[start + index], is[start + index]),
    );
    const [first = []] = edits;
    return edits.every((each) => isDeepStrictEqual(each, first))
      ? first
      : [replace(text, node, is.slice(start, end), "items")];
  });
}

/** Replaces a whole value. Several items of a list are written without the brackets of a list. */
function replace(
  text: string,
  node: Node | null,
  value: unknown,
  kind: "value" | "items" = "value",
): TextEdit {
  const [start, end] = rangeOf(node);
  const isBlock = text[end - 1] === "\n";
  const flow = text[start - 1] === ":" ? ` ${inline(value)}` : inline(value);
  if (kind === "value") return { start, end: isBlock ? end - 1 : end, text: flow };
  const indent = " ".repeat(Math.max(0, start - lineStart(text, start) - 2));
  const isFlowItem = !/^\s*- *$/.test(text.slice(lineStart(text, start), start));
  const items = (value as readonly unknown[]).map(inline);
  return { start, end: isBlock ? end - 1 : end, text: items.join(isFlowItem ? ", " : `\n${indent}- `) };
}

/** The edits that change the value of a node. `was` is its value with all repeats expanded. */
function editNode(text: string, node: Node | null, was: unknown, is: unknown, pair?: Pair): TextEdit[] {
  if (isDeepStrictEqual(was, is)) return [];
  if (isMap(node) && isObject(was) && isObject(is) && !node.has("cycle")) return editMap(text, node, was, is);
  if (isSeq(node) && Array.isArray(was) && Array.isArray(is)) return editList(text, node, was, is);
  if (node) return [replace(text, node, is)];
  const [, end] = rangeOf(pair?.key);
  return [{ start: end + 1, end: end + 1, text: ` ${inline(is)}` }];
}

/**
 * The edits that change the value at a path.
 *
 * @param is the new value; undefined removes nothing
 */
export function editValue(
  text: string,
  document: Document,
  path: readonly PropertyKey[],
  is: unknown,
): TextEdit[] {
  const node = document.getIn(path, true) as Node | undefined;
  if (!node) return [];
  return editNode(text, node, expandRepeats(node.toJS(document)), is);
}

/** Applies edits to a text. */
export const applyEdits = (text: string, edits: readonly TextEdit[]): string =>
  edits
    .map((edit, index) => ({ ...edit, index }))
    // From the end, so that offsets stay right. At one place: first what is removed, then insertions in reverse order.
    .sort((one, other) => other.start - one.start || other.end - one.end || other.index - one.index)
    .reduce(
      (result, { start, end, text: added }) => result.slice(0, start) + added + result.slice(end),
      text,
    );
