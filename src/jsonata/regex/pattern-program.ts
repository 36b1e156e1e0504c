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
  | { readonly op: "match" };

/** A look-around: a separate program. It runs over the text towards the position where it is tested. */
export interface LookAround {
  readonly steps: readonly Step[];
  readonly ahead: boolean;
}

/** The program of a regular expression for the linear engine. */
export interface RegexProgram {
  readonly steps: readonly Step[];
  readonly looks: readonly LookAround[];
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

/** Returns the numbers of the groups that a node contains. They are always consecutive. */
function groupsIn(node: RegexNode): readonly number[] {
  if (node.kind === "capture") return [node.index, ...groupsIn(node.body)];
  if (node.kind === "sequence") return node.parts.flatMap(groupsIn);
  if (node.kind === "choice") return node.options.flatMap(groupsIn);
  return node.kind === "repeat" || node.kind === "look" ? groupsIn(node.body) : [];
}

/**
 * Compiles a regular expression to a program.
 *
 * @throws {UnsupportedRegexError} For a repeat whose body can be empty, a capturing group in a look-around, and a program
 *   that is too large.
 */
export function compileRegex({ root, groups, unicode, multiline }: ParsedRegex): RegexProgram {
  const looks: LookAround[] = [];
  const steps: Step[] = [{ op: "save", slot: 0 }];
  new StepWriter(steps, looks, false).write(root);
  steps.push({ op: "save", slot: 1 }, { op: "match" });
  return { steps, looks, groups, unicode, multiline, anchored: isAnchored(root, multiline) };
}

type NodeOf<Kind extends RegexNode["kind"]> = Extract<RegexNode, { readonly kind: Kind }>;

/** A step whose target is set later. */
type Split = Extract<Step, { readonly op: "split" }>;
type Jump = Extract<Step, { readonly op: "jump" }>;

/** Appends the steps of nodes to one program. */
class StepWriter {
  readonly #steps: Step[];
  readonly #looks: LookAround[];
  /** Whether the steps read the text from its end. */
  readonly #backwards: boolean;

  constructor(steps: Step[], looks: LookAround[], backwards: boolean) {
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

  #writeChoice(options: readonly RegexNode[]): void {
    const ends: Jump[] = [];
    for (const option of options.slice(0, -1)) {
      const split: Split = { op: "split", next: this.#steps.length + 1, other: 0 };
      const end: Jump = { op: "jump", next: 0 };
      this.#steps.push(split);
      this.write(option);
      this.#steps.push(end);
      ends.push(end);
      split.other = this.#steps.length;
    }
    for (const option of options.slice(-1)) this.write(option);
    for (const end of ends) end.next = this.#steps.length;
  }

  #writeLook({ body, ahead, negative }: NodeOf<"look">): void {
    if (groupsIn(body).length > 0) throw new UnsupportedRegexError("a look-around has a capturing group");
    const steps: Step[] = [];
    new StepWriter(steps, this.#looks, ahead).write(body);
    steps.push({ op: "match" });
    this.#steps.push({ op: "look", index: this.#looks.push({ steps, ahead }) - 1, negative });
  }

  #writeRepeat({ body, least, most, greedy }: NodeOf<"repeat">): void {
    if (isNullable(body)) throw new UnsupportedRegexError("it repeats something that can be empty");
    const groups = groupsIn(body);
    for (let count = 0; count < least; count += 1) this.#writeIteration(body, groups);
    const start = this.#steps.length;
    const splits: Split[] = [];
    for (let count = least; count < (most === Infinity ? least + 1 : most); count += 1) {
      const split: Split = { op: "split", next: 0, other: 0 };
      splits.push(split);
      this.#steps.push(split);
      split[greedy ? "next" : "other"] = this.#steps.length;
      this.#writeIteration(body, groups);
    }
    if (most === Infinity) this.#steps.push({ op: "jump", next: start });
    for (const split of splits) split[greedy ? "other" : "next"] = this.#steps.length;
  }

  #writeIteration(body: RegexNode, groups: readonly number[]): void {
    if (groups.length > 0)
      this.#steps.push({ op: "reset", from: 2 * Math.min(...groups), to: 2 * Math.max(...groups) + 1 });
    this.write(body);
  }
}
