/**
 * Scans a v4 object once and stores the start and end of the members that fields read. One small loop for all objects:
 * V8 optimizes it better, and sooner, than code that is generated for each object.
 */
import {
  characters,
  createMemberTable,
  type Cursor,
  endOfValue,
  type MemberTable,
  nameAt,
  notJson,
  skipWhitespace,
  tooDeep,
} from "../../base/index.ts";

/** Constants of this module, since V8 does not fold imported ones. */
const { closeBrace, comma, openBrace, space } = characters;

/** A member of a v4 object that fields read, in a tree of members. */
interface MemberNode {
  /** The variables of the member's start and end; undefined if only nested members are read. */
  range: ByteRange | undefined;
  readonly members: Map<string, MemberNode>;
}

/** The names of two variables. Both are 0 for a missing member. */
export interface ByteRange {
  readonly start: string;
  readonly end: string;
}

const createNode = (): MemberNode => ({ range: undefined, members: new Map() });

/**
 * The v4 members that the fields of one object read. Each member has one pair of variables, regardless of the number of
 * fields.
 */
export type ScannedMembers = ReturnType<typeof createScannedMembers>;

/** An object whose members are read. Its members have consecutive slots. Slots of nested objects follow. */
interface ObjectScan {
  readonly names: MemberTable;
  readonly firstSlot: number;
  readonly lastSlot: number;
}

/** The input of {@link scanMembers}, and its result. */
interface MemberScan {
  readonly root: ObjectScan;
  /** The members to read by slot, if the member is an object. */
  readonly objects: readonly (ObjectScan | undefined)[];
  /** Start and end of the member of each slot. The first slot is for all members that are not read. */
  readonly offsets: Int32Array;
}

export function createScannedMembers() {
  const root = createNode();
  let count = 0;
  return {
    /** The variables of the member at a path. */
    range(path: readonly string[]): ByteRange {
      let node = root;
      for (const name of path) {
        const next = node.members.get(name) ?? createNode();
        node.members.set(name, next);
        node = next;
      }
      if (node.range) return node.range;
      node.range = { start: `s${count}`, end: `e${count}` };
      count += 1;
      return node.range;
    },
    /** Compiles the scan for all requested members, with the index of each variable in the offsets. */
    compile() {
      const objects: (ObjectScan | undefined)[] = [undefined];
      const variables: (readonly [string, number])[] = [];
      function compileObject({ members }: MemberNode): ObjectScan {
        const firstSlot = objects.length;
        const nodes = [...members.values()];
        for (const { range } of nodes) {
          if (range) variables.push([range.start, 2 * objects.length], [range.end, 2 * objects.length + 1]);
          objects.push(undefined);
        }
        for (const [index, node] of nodes.entries())
          if (node.members.size > 0) objects[firstSlot + index] = compileObject(node);
        return { names: createMemberTable(members.keys()), firstSlot, lastSlot: objects.length - 1 };
      }
      const scan: MemberScan = {
        root: compileObject(root),
        objects,
        offsets: new Int32Array(2 * objects.length),
      };
      return { scan, variables };
    },
  };
}

/**
 * Resets the offsets of the last object, and those of nested members if an object contains a name twice. A missing
 * member must have no bytes, because the size of the output is computed from both offsets.
 */
function forgetMembers({ firstSlot, lastSlot }: ObjectScan, offsets: Int32Array): void {
  for (let index = 2 * firstSlot; index < 2 * lastSlot + 2; index += 1) offsets[index] = 0;
}

/**
 * Sets the offsets for the value at the cursor, and moves the cursor behind it. A value that is not an object has no members.
 *
 * @throws {SyntaxError} If there is no valid JSON at the cursor.
 * @throws {RangeError} If it is nested too deeply.
 */
export function scanMembers(cursor: Cursor, scan: MemberScan): void {
  cursor.at = scanValue(cursor, cursor.at, cursor.depth, scan.root, scan);
}

/** @returns The offset behind the value that starts at `start`. */
function scanValue(
  cursor: Cursor,
  start: number,
  depth: number,
  object: ObjectScan,
  scan: MemberScan,
): number {
  const { bytes } = cursor;
  const { offsets, objects } = scan;
  forgetMembers(object, offsets);
  if (bytes[start] !== openBrace) return endOfValue(cursor, start, depth);
  if (depth <= 0) tooDeep();
  const { names, firstSlot } = object;
  let at = skipWhitespace(bytes, start + 1);
  if (bytes[at] === closeBrace) return at + 1;
  for (let index = 0; ; index += 1) {
    const { number, length } = nameAt(cursor, at, names, index);
    at += length;
    if ((bytes[at] as number) <= space) at = skipWhitespace(bytes, at);
    const slot = number < 0 ? 0 : firstSlot + number;
    const inner = objects[slot];
    offsets[2 * slot] = at;
    at =
      inner === undefined ? endOfValue(cursor, at, depth - 1) : scanValue(cursor, at, depth - 1, inner, scan);
    offsets[2 * slot + 1] = at;
    let code = bytes[at] as number;
    if (code <= space) {
      at = skipWhitespace(bytes, at);
      code = bytes[at] as number;
    }
    at += 1;
    if (code === closeBrace) return at;
    if (code !== comma) notJson();
    if ((bytes[at] as number) <= space) at = skipWhitespace(bytes, at);
  }
}
