/** Changes values of a YAML document. Comments, quotes, and the style of maps and lists stay. */
import { isDeepStrictEqual } from "node:util";
import {
  type Document,
  isCollection,
  isMap,
  isSeq,
  visit,
  parseDocument,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { isObject } from "../../base/index.ts";
import { expandRepeats } from "./example.ts";

/** Creates a node for a new value, on one line. */
function createNode(document: Document, value: unknown): Node {
  const node = document.createNode(value);
  if (isCollection(node)) node.flow = true;
  return node;
}

/** Replaces a node by a new value, and keeps its comments. */
function replaceNode(document: Document, node: Node | null, value: unknown): Node {
  const replacement = createNode(document, value);
  const { comment, commentBefore, spaceBefore } = node ?? {};
  return Object.assign(replacement, {
    // The comment of a block is inside the block.
    ...(!isCollection(node) && { comment }),
    commentBefore,
    spaceBefore,
  });
}

function editMap(document: Document, map: YAMLMap, was: object, is: object): Node {
  const [old, now] = [new Map(Object.entries(was)), Object.entries(is)];
  const remaining = now.map(([name]) => name).filter((name) => old.has(name));
  if (remaining.length === 0) return replaceNode(document, map, is);
  for (const name of old.keys()) if (!Object.hasOwn(is, name)) map.delete(name);
  const indexOf = (name: string | undefined): number =>
    map.items.findIndex(({ key }) => String(key) === name);
  let previous: string | undefined;
  for (const [name, value] of now) {
    const pair = map.items[indexOf(name)];
    if (pair) pair.value = editNode(document, pair.value as Node | null, old.get(name), value);
    else map.items.splice(indexOf(previous) + 1, 0, document.createPair(name, createNode(document, value)));
    previous = name;
  }
  return map;
}

/** Changes the values of an expanded list, grouped by their items in the file. */
function editList(document: Document, list: YAMLSeq, was: readonly unknown[], is: readonly unknown[]): Node {
  if (was.length !== is.length) return replaceNode(document, list, is);
  let at = 0;
  list.items = list.items.flatMap((item) => {
    const repeat = isMap(item) ? item.get("repeat") : undefined;
    const template = isMap(item) ? (item.get("of", true) as Node | undefined) : undefined;
    if (typeof repeat !== "number" || !template) {
      const index = at++;
      return [editNode(document, item as Node, was[index], is[index])];
    }
    const start = at;
    at += repeat;
    const edited = Array.from({ length: repeat }, (_, index) =>
      editNode(document, template.clone() as Node, was[start + index], is[start + index]),
    );
    const [first] = edited;
    // If all items change in the same way, their template changes.
    if (!edited.every((each) => isDeepStrictEqual(each.toJS(document), first?.toJS(document))))
      return is.slice(start, at).map((value) => createNode(document, value));
    (item as YAMLMap).set("of", first);
    return [item];
  });
  return list;
}

/** Returns a node with a new value. @param was the node's value with all repeats expanded */
function editNode(document: Document, node: Node | null, was: unknown, is: unknown): Node {
  if (node && isDeepStrictEqual(was, is)) return node;
  if (isMap(node) && isObject(was) && isObject(is) && !node.has("cycle"))
    return editMap(document, node, was, is);
  if (isSeq(node) && Array.isArray(was) && Array.isArray(is)) return editList(document, node, was, is);
  return replaceNode(document, node, is);
}

/** Sets the value at a path; undefined removes it. */
export function setValue(document: Document, path: readonly PropertyKey[], is: unknown): void {
  const node = document.getIn(path, true) as Node | undefined;
  if (is === undefined) document.deleteIn(path);
  else if (node) document.setIn(path, editNode(document, node, expandRepeats(node.toJS(document)), is));
  else document.setIn(path, createNode(document, is));
}

/** Returns the text of a document: `{ a: 1 }` and `[1, 2]` without line breaks. */
export function printDocument(document: Document): string {
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: true });
  const spaces = new Set<number>();
  visit(parseDocument(text), {
    Seq(_at, { flow, items, range }) {
      if (!flow || items.length === 0 || !range) return;
      for (const offset of [range[0] + 1, range[1] - 2]) if (text[offset] === " ") spaces.add(offset);
    },
  });
  return text.replaceAll(" ", (space, offset: number) => (spaces.has(offset) ? "" : space));
}
