/** Records one evaluation of an expression as a tree of its sub-expressions. */
import { isNode, type AstNode } from "../language/ast.ts";
import type { StepHooks } from "../interpreter/interpret.ts";
import { isInterpretedFunction } from "../runtime/guard.ts";
import { collapse } from "../runtime/sequence.ts";
import { findSteps, type Step } from "./steps.ts";

/** A value as people see it. */
export interface ShownValue {
  /** Null: the value is missing, or it is a secret. */
  readonly value: string | null;
  /** It comes from a secret. */
  readonly isSecret?: true;
}

/** Turns a value into a text. */
export type Show = (value: unknown) => ShownValue;

/** A call of a function that the caller has bound, such as `$values`, which finds a row of a table. */
interface TracedLookup {
  /** The function, without the `$`. */
  readonly function: string;
  /** Its arguments: for `$values` the table, and the value whose row is used. */
  readonly args: readonly string[];
  /** Null: there is no row. */
  readonly result: string | null;
}

/** A sub-expression, evaluated once. */
export interface TracedNode extends ShownValue {
  readonly text: string;
  /** Offset of the text in the source of the expression, in characters. */
  readonly offset: number;
  /** It is the branch that a condition has taken. */
  readonly branch?: "then" | "else";
  /** An error was thrown in it. */
  hasFailed?: true;
  readonly lookups: TracedLookup[];
  readonly children: TracedNode[];
  /** How many evaluations directly below are left out. */
  omitted?: number;
}

/** Evaluations of nodes that are recorded of one evaluation of an expression, and directly below one node. */
const MAX_NODES = 500;
export const MAX_CHILDREN = 50;

/** How many evaluations of nodes may still be recorded, in all evaluations of expressions that share it. */
export interface NodeBudget {
  left: number;
}

/** An evaluation that has not ended. `traced` is undefined if it is left out. */
interface OpenNode {
  readonly node: AstNode;
  readonly traced: TracedNode | undefined;
}

export class Recorder implements StepHooks {
  readonly nodes: TracedNode[] = [];
  /** Evaluations that are left out. */
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

  /** The evaluation around a node. The last one is not always it: the members of an object are evaluated side by side. */
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

/** Whether a node calls the function of a name, or passes it to another function. */
function isCallOf({ type, procedure, arguments: args }: AstNode, name: string): boolean {
  if (type !== "function") return false;
  const named = [procedure, ...(Array.isArray(args) ? args : [])];
  return named.some((part) => isNode(part) && part.type === "variable" && part.value === name);
}
