/** Records one evaluation of an expression as a tree of its sub-expressions. */
import { isNode, type AstNode } from "../language/ast.ts";
import type { StepHooks } from "../interpreter/interpret.ts";
import { isInterpretedFunction } from "../runtime/guard.ts";
import { collapse } from "../runtime/sequence.ts";
import { findSteps, type Step } from "./steps.ts";

/** A value in a form for people. */
export interface ShownValue {
  /** The text of the value. Null if the value is missing or secret. */
  readonly value: string | null;
  /** Whether the value is derived from a secret. */
  readonly isSecret?: true;
}

/** Turns a value into a text. */
export type Show = (value: unknown) => ShownValue;

/** A call of a function that the caller has bound, such as `$values`, which finds a row of a table. */
interface TracedLookup {
  /** The name of the function, without the `$`. */
  readonly function: string;
  /** The function's arguments: for `$values`, the table and the value to find in it. */
  readonly args: readonly string[];
  /** The result. Null if there is no row. */
  readonly result: string | null;
}

/** A sub-expression, evaluated once. */
export interface TracedNode extends ShownValue {
  readonly text: string;
  /** Offset of the text in the source of the expression, in characters. */
  readonly offset: number;
  /** The branch that the node is, if the condition selected it. */
  readonly branch?: "then" | "else";
  /** Whether an error was thrown in the node. */
  hasFailed?: true;
  readonly lookups: TracedLookup[];
  readonly children: TracedNode[];
  /** Number of child evaluations that are omitted. */
  omitted?: number;
}

/** Maximum number of recorded evaluations of nodes: in one evaluation of an expression, and directly below one node. */
const MAX_NODES = 500;
const MAX_CHILDREN = 50;

/** Number of evaluations of nodes that may still be recorded. Several evaluations of expressions may share it. */
export interface NodeBudget {
  left: number;
}

/** An evaluation that has not ended. `traced` is undefined if the evaluation is omitted. */
interface OpenNode {
  readonly node: AstNode;
  readonly traced: TracedNode | undefined;
}

export class Recorder implements StepHooks {
  readonly nodes: TracedNode[] = [];
  /** Number of omitted evaluations. */
  omitted = 0;
  #count = 0;
  readonly #open: OpenNode[] = [];
  readonly #steps: ReadonlyMap<AstNode, Step>;
  readonly #show: Show;
  readonly #budget: NodeBudget;

  constructor(source: string, ast: AstNode, show: Show, budget: NodeBudget) {
    this.#steps = findSteps(source, ast);
    this.#show = show;
    this.#budget = budget;
  }

  /**
   * Returns the evaluation of the parent node. It need not be the last one, because the members of an object are
   * evaluated concurrently.
   */
  #findParent({ parent }: Step): OpenNode | undefined {
    if (!parent) return undefined;
    const open = this.#open.findLast(({ node }) => node === parent);
    const step = this.#steps.get(parent);
    return open ?? (step && this.#findParent(step));
  }

  enter(node: AstNode): void {
    const step = this.#steps.get(node);
    if (!step?.isRecorded) return;
    const parent = this.#findParent(step);
    const siblings = parent ? parent.traced?.children : this.nodes;
    const isLeft = this.#count < MAX_NODES && this.#budget.left > 0;
    if (siblings && siblings.length < MAX_CHILDREN && isLeft) {
      const { text, offset, branch } = step;
      const traced: TracedNode = {
        text,
        offset,
        ...(branch && { branch }),
        value: null,
        hasFailed: true,
        lookups: [],
        children: [],
      };
      siblings.push(traced);
      this.#count += 1;
      this.#budget.left -= 1;
      this.#open.push({ node, traced });
      return;
    }
    this.omitted += 1;
    if (parent?.traced) parent.traced.omitted = (parent.traced.omitted ?? 0) + 1;
    this.#open.push({ node, traced: undefined });
  }

  leave(node: AstNode, value: unknown): void {
    const at = this.#open.findLastIndex((each) => each.node === node);
    const [{ traced } = {}] = at === -1 ? [] : this.#open.splice(at, 1);
    if (!traced) return;
    delete traced.hasFailed;
    Object.assign(traced, this.#show(isFunction(value) ? "(function)" : collapse(value)));
  }

  /** Records the call of a bound function. */
  addLookup(name: string, args: readonly unknown[], result: unknown): void {
    const call = this.#open.findLast(({ node }) => isCallOf(node, name))?.traced;
    const { value, isSecret } = this.#show(result);
    if (!call || isSecret || call.lookups.length >= MAX_CHILDREN) return;
    const shown = args.map((argument) => this.#show(argument).value ?? "nothing");
    call.lookups.push({ function: name, args: shown, result: value });
  }
}

const isFunction = (value: unknown): boolean =>
  typeof value === "function" ||
  (typeof value === "object" && value !== null && isInterpretedFunction(value));

/** Whether a node calls the function with this name, or passes it to another function. */
function isCallOf({ type, procedure, arguments: args }: AstNode, name: string): boolean {
  if (type !== "function") return false;
  const named = [procedure, ...(Array.isArray(args) ? args : [])];
  return named.some((part) => isNode(part) && part.type === "variable" && part.value === name);
}
