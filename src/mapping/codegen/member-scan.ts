/** Generates the loop that goes over a v4 object once and notes where the members that fields read start and end. */
import { createMemberTable } from "../../dialect/json/scan.ts";
import type { CodeBuilder } from "./code-builder.ts";

/** A member of a v4 object that fields read, in a tree of members. */
export interface MemberNode {
  /** The variables of its start and end; undefined where only members of it are read. */
  range: ByteRange | undefined;
  readonly members: Map<string, MemberNode>;
}

/** The names of two variables. The end of a missing member is 0. */
export interface ByteRange {
  readonly start: string;
  readonly end: string;
}

const createNode = (): MemberNode => ({ range: undefined, members: new Map() });

/** The v4 members that the fields of one object read. Each has one pair of variables, however many fields read it. */
export interface MemberPlan {
  readonly root: MemberNode;
  /** In the order of the first request. */
  readonly ranges: readonly ByteRange[];
  /** The variables of the member at a path. */
  range(path: readonly string[]): ByteRange;
}

export function createMemberPlan(): MemberPlan {
  const root = createNode();
  const ranges: ByteRange[] = [];
  return {
    root,
    ranges,
    range(path) {
      let node = root;
      for (const name of path) {
        const next = node.members.get(name) ?? createNode();
        node.members.set(name, next);
        node = next;
      }
      if (node.range) return node.range;
      const range = { start: `s${ranges.length}`, end: `e${ranges.length}` };
      node.range = range;
      ranges.push(range);
      return range;
    },
  };
}

/** End variables below a node. They are reset, because of two members with one name only the second counts. */
const endsBelow = ({ members }: MemberNode): string[] =>
  [...members.values()].flatMap((node) => [...(node.range ? [node.range.end] : []), ...endsBelow(node)]);

function emitValue(node: MemberNode, level: number, builder: CodeBuilder): string {
  const { range, members } = node;
  const skip = `at = endOfValue(bytes, at, depth - ${level});`;
  const setStart = range ? `${range.start} = at;` : "";
  const setEnd = range ? `${range.end} = at;` : "";
  if (members.size === 0) return `${setStart} ${skip} ${setEnd}`;
  const ends = endsBelow(node);
  const reset = ends.length > 0 ? `${ends.join(" = ")} = 0;` : "";
  return `${reset}\n${setStart}\nif (bytes[at] === 123) {\n${emitMembers(node, level, builder)}\n} else ${skip}\n${setEnd}`;
}

/** Emits a loop over the members of the object at `at`, `level` objects deep, which sets the variables of the plan. */
export function emitMembers({ members }: MemberNode, level: number, builder: CodeBuilder): string {
  const table = builder.constant(createMemberTable(members.keys()));
  const [index, name] = [builder.name("index"), builder.name("name")];
  const cases = [...members.values()].map(
    (node, number) => `case ${number}: {\n${emitValue(node, level + 1, builder)}\nbreak;\n}`,
  );
  return `
at = skipWhitespace(bytes, at + 1);
if (bytes[at] === 125) at += 1;
else for (let ${index} = 0; ; ${index} += 1) {
const ${name} = nameAt(cursor, at, ${table}, ${index});
at += ${name}.length;
if (bytes[at] <= 32) at = skipWhitespace(bytes, at);
switch (${name}.number) {
${cases.join("\n")}
default: at = endOfValue(bytes, at, depth - ${level + 1});
}
code = bytes[at];
if (code <= 32) code = bytes[(at = skipWhitespace(bytes, at))];
at += 1;
if (code === 125) break;
if (code !== 44) notJson();
if (bytes[at] <= 32) at = skipWhitespace(bytes, at);
}`.trim();
}
