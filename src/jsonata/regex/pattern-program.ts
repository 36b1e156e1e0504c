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
  /** Matches only at the start of the text. */
  readonly anchored: boolean;
}

/** Maximum size of a program. Counted repeats are unrolled, so a short pattern can become a large program. */
const MAX_STEPS = 4000;

/** Whether a node matches only at the start of the text. */
export function isAnchored(node: RegexNode, multiline: boolean): boolean {
  if (node.kind === "assertion") return node.what === "^" && !multiline;
  if (node.kind === "capture") return isAnchored(node.body, multiline);
  if (node.kind === "choice") return node.options.every((option) => isAnchored(option, multiline));
  const [first] = node.kind === "sequence" ? node.parts : [];
  return first !== undefined && isAnchored(first, multiline);
}

/** Returns the numbers of the groups in a node. They are always consecutive. */
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

  /** Appends the steps of a node. @param backwards Whether they read the text from its end. */
  function emit(node: RegexNode, steps: Step[], backwards: boolean): void {
    if (steps.length > MAX_STEPS) throw new UnsupportedRegexError("it is too large");
    if (node.kind === "character") steps.push({ op: "take", takes: node.test() });
    else if (node.kind === "assertion") steps.push({ op: "assertion", what: node.what });
    else if (node.kind === "sequence")
      for (const part of backwards ? node.parts.toReversed() : node.parts) emit(part, steps, backwards);
    else if (node.kind === "choice") emitChoice(node.options, steps, backwards);
    else if (node.kind === "look") emitLook(node, steps);
    else if (node.kind === "repeat") emitRepeat(node, steps, backwards);
    else {
      steps.push({ op: "save", slot: 2 * node.index });
      emit(node.body, steps, backwards);
      steps.push({ op: "save", slot: 2 * node.index + 1 });
    }
  }

  function emitChoice(options: readonly RegexNode[], steps: Step[], backwards: boolean): void {
    const ends: { next: number }[] = [];
    for (const [index, option] of options.entries()) {
      if (index === options.length - 1) emit(option, steps, backwards);
      else {
        const split = { op: "split", next: steps.length + 1, other: 0 } as const;
        const fork: Step & { other: number } = { ...split };
        steps.push(fork);
        emit(option, steps, backwards);
        const end: Step & { next: number } = { op: "jump", next: 0 };
        steps.push(end);
        ends.push(end);
        fork.other = steps.length;
      }
    }
    for (const end of ends) end.next = steps.length;
  }

  function emitLook(node: RegexNode & { readonly kind: "look" }, steps: Step[]): void {
    if (groupsIn(node.body).length > 0)
      throw new UnsupportedRegexError("a look-around has a capturing group");
    const lookSteps: Step[] = [];
    emit(node.body, lookSteps, node.ahead);
    lookSteps.push({ op: "match" });
    steps.push({
      op: "look",
      index: looks.push({ steps: lookSteps, ahead: node.ahead }) - 1,
      negative: node.negative,
    });
  }

  function emitRepeat(
    node: RegexNode & { readonly kind: "repeat" },
    steps: Step[],
    backwards: boolean,
  ): void {
    const { body, least, most, greedy } = node;
    if (isNullable(body)) throw new UnsupportedRegexError("it repeats something that can be empty");
    const inside = groupsIn(body);
    function emitIteration(): void {
      if (inside.length > 0)
        steps.push({ op: "reset", from: 2 * Math.min(...inside), to: 2 * Math.max(...inside) + 1 });
      emit(body, steps, backwards);
    }
    /** Emits an optional iteration. Returns a function that sets where it ends. */
    function emitOptionalIteration(): (end: number) => void {
      const split: Step & { next: number; other: number } = { op: "split", next: 0, other: 0 };
      steps.push(split);
      split[greedy ? "next" : "other"] = steps.length;
      emitIteration();
      return (end) => void (split[greedy ? "other" : "next"] = end);
    }
    for (let count = 0; count < least; count += 1) emitIteration();
    if (most === Infinity) {
      const loop = steps.length;
      const ends = emitOptionalIteration();
      steps.push({ op: "jump", next: loop });
      ends(steps.length);
      return;
    }
    const ends: ((end: number) => void)[] = [];
    for (let count = least; count < most; count += 1) ends.push(emitOptionalIteration());
    for (const end of ends) end(steps.length);
  }

  const steps: Step[] = [{ op: "save", slot: 0 }];
  emit(root, steps, false);
  steps.push({ op: "save", slot: 1 }, { op: "match" });
  return { steps, looks, groups, unicode, multiline, anchored: isAnchored(root, multiline) };
}
