/** What one evaluation does, node by node. */
import type { AstNode } from "../ast.ts";

/** A node of an expression, as the compiler has emitted it. */
export interface Step {
  readonly node: AstNode;
  /** Its text in the source. */
  readonly text: string;
  /** Offset of the text in the source. */
  readonly offset: number;
  /** Whether its value comes from a secret name. */
  readonly isSecret: boolean;
  /** Which branch of a condition it is. */
  readonly branch: "then" | "else" | undefined;
  /** Whether it is the call that ends a function. It is made after the function has returned, so its value is the function's. */
  readonly isTailCall: boolean;
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
  /** Undefined where there is none, and before the end of the evaluation. */
  value: unknown;
  /** Whether the evaluation has not ended: an error was thrown in it. */
  isOpen: boolean;
  /** How many evaluations below are left out. */
  omitted: number;
}

/** Evaluations of nodes that are recorded of one evaluation of an expression, and directly below one node. */
export const MAX_FRAMES = 2_000;
export const MAX_CHILDREN = 50;

/** Records one evaluation. Values are kept as they are until its end. */
export class Recorder {
  readonly roots: Frame[] = [];
  /** Evaluations that are left out of the tree. */
  omitted = 0;
  #count = 0;
  readonly #stack: Frame[] = [];

  enter(step: Step): Frame {
    const frame: Frame = { step, children: [], lookups: [], value: undefined, isOpen: true, omitted: 0 };
    const parent = this.#stack.at(-1);
    const siblings = parent?.children ?? this.roots;
    if (this.#count < MAX_FRAMES && siblings.length < MAX_CHILDREN) {
      siblings.push(frame);
      this.#count += 1;
    } else {
      this.omitted += 1;
      if (parent) parent.omitted += 1;
    }
    this.#stack.push(frame);
    return frame;
  }

  leave(frame: Frame, value: unknown): void {
    while (this.#stack.length > 0 && this.#stack.pop() !== frame);
    frame.value = value;
    frame.isOpen = false;
  }

  addLookup(lookup: Lookup): void {
    const frame = this.#stack.at(-1);
    if (frame && frame.lookups.length < MAX_CHILDREN) frame.lookups.push(lookup);
  }
}
