import {
  isNullable,
  UnsupportedRegexError,
  type ParsedRegex,
  type RegexNode,
  type TakesCharacter,
} from "./parse-regex.ts";

/** An instruction of a program. `next` and `other` are indexes of steps. */
export type Step =
  | { readonly op: "take"; readonly takes: TakesCharacter }
  /** Tries `next` first, and then `other`. */
  | { readonly op: "split"; next: number; other: number }
  | { readonly op: "jump"; next: number }
  /** Saves the position in the text. */
  | { readonly op: "save"; readonly slot: number }
  /** Clears the captures of groups, at the start of each iteration of a repeat. */
  | { readonly op: "reset"; readonly from: number; readonly to: number }
  | { readonly op: "assertion"; readonly what: "^" | "$" | "b" | "B" }
  | { readonly op: "look"; readonly index: number; readonly negative: boolean }
  /** The last step. */
  | { readonly op: "match" };

/** The steps of a pattern, or of a look-around. A look-ahead reads the text backwards, towards its position. */
export interface Program {
  readonly steps: readonly Step[];
  readonly backwards: boolean;
}

/** The program of a regular expression for the linear engine. */
export interface RegexProgram extends Program {
  readonly looks: readonly Program[];
  readonly groups: number;
  readonly unicode: boolean;
  readonly multiline: boolean;
  /** Whether it only matches at the start of the text. */
  readonly anchored: boolean;
}

/** Maximum size of a program. Counted repeats are unrolled, so a short pattern can become a large program. */
const MAX_STEPS = 4000;

/** Whether a node only matches at the start of the text. */
export function isAnchored(node: RegexNode, multiline: boolean): boolean {
  if (node.kind === "assertion") return node.what === "^" && !multiline;
  if (node.kind === "capture") return isAnchored(node.body, multiline);
  if (node.kind === "choice") return node.options.every((option) => isAnchored(option, multiline));
  const [first] = node.kind === "sequence" ? node.parts : [];
  return first !== undefined && isAnchored(first, multiline);
}

/**
 * Compiles a regular expression to a program.
 *
 * @throws {UnsupportedRegexError} For a repeat whose body can be empty, a capturing group in a look-around, and a program
 *   that is too large.
 */
export function compileRegex({ root, groups, unicode, multiline }: ParsedRegex): RegexProgram {
  const looks: Program[] = [];
  const steps: Step[] = [{ op: "save", slot: 0 }];
  new StepWriter(steps, looks, false).write(root);
  steps.push({ op: "save", slot: 1 }, { op: "match" });
  const anchored = isAnchored(root, multiline);
  return { steps, looks, groups, unicode, multiline, anchored, backwards: false };
}

type NodeOf<Kind extends RegexNode["kind"]> = Extract<RegexNode, { readonly kind: Kind }>;

/** Appends the steps of nodes to one program. */
class StepWriter {
  readonly #steps: Step[];
  readonly #looks: Program[];
  readonly #backwards: boolean;

  constructor(steps: Step[], looks: Program[], backwards: boolean) {
    this.#steps = steps;
    this.#looks = looks;
    this.#backwards = backwards;
  }

  write(node: RegexNode): void {
    if (this.#steps.length > MAX_STEPS) throw new UnsupportedRegexError("it is too large");
    if (node.kind === "character") this.#steps.push({ op: "take", takes: node.test() });
    else if (node.kind === "assertion") this.#steps.push({ op: "assertion", what: node.what });
    else if (node.kind === "sequence")
      for (const part of this.#backwards ? node.parts.toReversed() : node.parts) this.write(part);
    else if (node.kind === "choice") this.#writeChoice(node.options);
    else if (node.kind === "look") this.#writeLook(node);
    else if (node.kind === "repeat") this.#writeRepeat(node);
    else {
      this.#steps.push({ op: "save", slot: 2 * node.index });
      this.write(node.body);
      this.#steps.push({ op: "save", slot: 2 * node.index + 1 });
    }
  }

  /** Appends a step whose targets are set later. */
  #push<Kind extends "split" | "jump">(step: Extract<Step, { readonly op: Kind }>): typeof step {
    this.#steps.push(step);
    return step;
  }

  #writeChoice(options: readonly RegexNode[]): void {
    const ends = options.slice(0, -1).map((option) => {
      const split = this.#push<"split">({ op: "split", next: this.#steps.length + 1, other: 0 });
      this.write(option);
      const end = this.#push<"jump">({ op: "jump", next: 0 });
      split.other = this.#steps.length;
      return end;
    });
    for (const option of options.slice(-1)) this.write(option);
    for (const end of ends) end.next = this.#steps.length;
  }

  #writeLook({ body, ahead, negative, hasGroups }: NodeOf<"look">): void {
    if (hasGroups) throw new UnsupportedRegexError("a look-around has a capturing group");
    const steps: Step[] = [];
    new StepWriter(steps, this.#looks, ahead).write(body);
    steps.push({ op: "match" });
    this.#steps.push({ op: "look", index: this.#looks.push({ steps, backwards: ahead }) - 1, negative });
  }

  #writeRepeat(node: NodeOf<"repeat">): void {
    const { body, least, most, greedy } = node;
    if (isNullable(body)) throw new UnsupportedRegexError("it repeats something that can be empty");
    for (let count = 0; count < least; count += 1) this.#writeIteration(node);
    const start = this.#steps.length;
    const splits: (Step & { op: "split" })[] = [];
    for (let count = least; count < (most === Infinity ? least + 1 : most); count += 1) {
      const split = this.#push<"split">({ op: "split", next: 0, other: 0 });
      split[greedy ? "next" : "other"] = this.#steps.length;
      this.#writeIteration(node);
      splits.push(split);
    }
    if (most === Infinity) this.#steps.push({ op: "jump", next: start });
    for (const split of splits) split[greedy ? "other" : "next"] = this.#steps.length;
  }

  #writeIteration({ body, groups: [first, end] }: NodeOf<"repeat">): void {
    if (first < end) this.#steps.push({ op: "reset", from: 2 * first, to: 2 * end - 1 });
    this.write(body);
  }
}
