/** Records one evaluation, node by node. */
import { isNode, type AstNode } from "../language/ast.ts";
import { collapse } from "../runtime/sequence.ts";

/** A node of an expression, as it is written. */
export interface Step {
  readonly node: AstNode;
  /** Its text in the source. */
  readonly text: string;
  /** Offset of the text in the source. */
  readonly offset: number;
  /** Which branch of a condition it is. */
  readonly branch: "then" | "else" | undefined;
}

/** A function that the caller has bound, such as a lookup in a table, and one call of it. */
export interface Lookup {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
}

/** One evaluation of a node. */
export interface Frame {
  readonly step: Step;
  readonly children: Frame[];
  readonly lookups: Lookup[];
  /** Undefined without a value, and before the end of the evaluation. */
  value: unknown;
  /** Whether the evaluation has not ended: an error was thrown in it. */
  isOpen: boolean;
  /** How many evaluations below are left out. */
  omitted: number;
}

/** Evaluations of nodes that are recorded of one evaluation of an expression, and directly below one node. */
export const MAX_FRAMES = 2_000;
export const MAX_CHILDREN = 50;

/** Parts of a node that refer to other nodes. */
const LINKS: ReadonlySet<string> = new Set(["slot", "ancestor", "seekingParent"]);

/** The members of object constructors: the interpreter evaluates the members of an object side by side. */
export interface ObjectMembers {
  /** For each node the member to which it belongs. */
  readonly memberOf: ReadonlyMap<AstNode, AstNode>;
  /** For each member its object. */
  readonly objectOf: ReadonlyMap<AstNode, AstNode>;
}

/** Finds the members of all object constructors in an expression. */
export function findMembers(ast: unknown): ObjectMembers {
  const memberOf = new Map<AstNode, AstNode>();
  const objectOf = new Map<AstNode, AstNode>();
  function visit(part: unknown, member: AstNode | undefined): void {
    if (Array.isArray(part)) return part.forEach((item) => visit(item, member));
    if (typeof part !== "object" || part === null) return;
    if (isNode(part) && member) memberOf.set(part, member);
    const object = isNode(part) && part.type === "unary" && part.value === "{" ? part : undefined;
    for (const [name, inner] of Object.entries(part))
      if (object && name === "lhs")
        (inner as AstNode[][]).flat().forEach((each) => visitMember(each, object));
      else if (!LINKS.has(name)) visit(inner, member);
  }
  function visitMember(member: AstNode, object: AstNode): void {
    objectOf.set(member, object);
    visit(member, member);
  }
  visit(ast, undefined);
  return { memberOf, objectOf };
}

/** Records one evaluation. Values are kept as they are until its end. */
export class Recorder {
  readonly roots: Frame[] = [];
  /** Evaluations that are left out of the tree. */
  omitted = 0;
  #count = 0;
  readonly #open: Frame[] = [];
  readonly #members: ObjectMembers;

  /** @param members The result of {@link findMembers} for the expression. */
  constructor(members: ObjectMembers) {
    this.#members = members;
  }

  /** The evaluation that started this one: of its object, the last one of the same member, or else the last one. */
  #findParent(node: AstNode): Frame | undefined {
    const { memberOf, objectOf } = this.#members;
    const object = objectOf.get(node);
    if (object) return this.#open.findLast(({ step }) => step.node === object);
    const member = memberOf.get(node);
    return this.#open.findLast(({ step }) => memberOf.get(step.node) === member) ?? this.#open.at(-1);
  }

  enter(step: Step): void {
    const frame: Frame = { step, children: [], lookups: [], value: undefined, isOpen: true, omitted: 0 };
    const parent = this.#findParent(step.node);
    const siblings = parent?.children ?? this.roots;
    if (this.#count < MAX_FRAMES && siblings.length < MAX_CHILDREN) {
      siblings.push(frame);
      this.#count += 1;
    } else {
      this.omitted += 1;
      if (parent) parent.omitted += 1;
    }
    this.#open.push(frame);
  }

  leave(node: AstNode, value: unknown): void {
    const at = this.#open.findLastIndex(({ step }) => step.node === node);
    const [frame] = at === -1 ? [] : this.#open.splice(at, 1);
    if (!frame) return;
    frame.value = collapse(value);
    frame.isOpen = false;
  }

  addLookup(lookup: Lookup): void {
    const frame = this.#open.findLast(({ step: { node } }) => isCallOf(node, lookup.name));
    if (frame && frame.lookups.length < MAX_CHILDREN) frame.lookups.push(lookup);
  }
}

/** Whether a node calls the function of a name, or passes it to another function. */
function isCallOf({ type, procedure, arguments: args }: AstNode, name: string): boolean {
  if (type !== "function") return false;
  const named = [procedure, ...(Array.isArray(args) ? args : [])];
  return named.some((part) => isNode(part) && part.type === "variable" && part.value === name);
}
