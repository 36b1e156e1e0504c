import {
  isNullable,
  UnsupportedRegexError,
  type ParsedRegex,
  type RegexNode,
  type TakesCharacter,
} from "./parse.ts";

/** One step of a program. What it does is in `op`; `next` and `other` are places of steps. */
export type Step =
  | { readonly op: "take"; readonly takes: TakesCharacter }
  /** Tries `next` first, and then `other`. */
  | { readonly op: "split"; next: number; other: number }
  | { readonly op: "jump"; next: number }
  /** Notes the place in the text under a number. */
  | { readonly op: "save"; readonly slot: number }
  /** Forgets what groups captured, as each turn of a repetition does. */
  | { readonly op: "reset"; readonly from: number; readonly to: number }
  | { readonly op: "assertion"; readonly what: "^" | "$" | "b" | "B" }
  | { readonly op: "look"; readonly index: number; readonly negative: boolean }
  | { readonly op: "match" };

/** A look-around: a program of its own, which runs over the text towards where it is asked for. */
export interface Look {
  readonly steps: readonly Step[];
  readonly ahead: boolean;
}

export interface RegexProgram {
  readonly steps: readonly Step[];
  readonly looks: readonly Look[];
  readonly groups: number;
  readonly unicode: boolean;
  readonly multiline: boolean;
  /** Matches at the start of the text alone. */
  readonly anchored: boolean;
}

/** Counted repetitions are written out: a program of more steps than this is refused. */
const MOST_STEPS = 4000;

/** Whether a part matches at the start of the text alone. */
export function isAnchored(node: RegexNode, multiline: boolean): boolean {
  if (node.kind === "assertion") return node.what === "^" && !multiline;
  if (node.kind === "capture") return isAnchored(node.body, multiline);
  if (node.kind === "choice") return node.options.every((option) => isAnchored(option, multiline));
  const [first] = node.kind === "sequence" ? node.parts : [];
  return first !== undefined && isAnchored(first, multiline);
}

/** The numbers of the groups in a part, from the first to the last; they are always in a row. */
function groupsIn(node: RegexNode): readonly number[] {
  if (node.kind === "capture") return [node.index, ...groupsIn(node.body)];
  if (node.kind === "sequence") return node.parts.flatMap(groupsIn);
  if (node.kind === "choice") return node.options.flatMap(groupsIn);
  return node.kind === "repeat" || node.kind === "look" ? groupsIn(node.body) : [];
}

/**
 * Writes the program of a regular expression.
 *
 * @throws {UnsupportedRegexError} for a repeated part that can be empty, a group inside a look-around, and what is too large.
 */
export function compileRegex({ root, groups, unicode, multiline }: ParsedRegex): RegexProgram {
  const looks: Look[] = [];

  /** Appends the steps of a part; `backwards`, they read the text from its end. */
  function emit(node: RegexNode, steps: Step[], backwards: boolean): void {
    if (steps.length > MOST_STEPS) throw new UnsupportedRegexError("it is too large");
    if (node.kind === "character") steps.push({ op: "take", takes: node.takes });
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
        const own: Step & { other: number } = { ...split };
        steps.push(own);
        emit(option, steps, backwards);
        const end: Step & { next: number } = { op: "jump", next: 0 };
        steps.push(end);
        ends.push(end);
        own.other = steps.length;
      }
    }
    for (const end of ends) end.next = steps.length;
  }

  function emitLook(node: RegexNode & { readonly kind: "look" }, steps: Step[]): void {
    if (groupsIn(node.body).length > 0)
      throw new UnsupportedRegexError("a look-around has a group that captures");
    const own: Step[] = [];
    emit(node.body, own, node.ahead);
    own.push({ op: "match" });
    steps.push({
      op: "look",
      index: looks.push({ steps: own, ahead: node.ahead }) - 1,
      negative: node.negative,
    });
  }

  function emitRepeat(
    node: RegexNode & { readonly kind: "repeat" },
    steps: Step[],
    backwards: boolean,
  ): void {
    const { body, least, most, greedy } = node;
    if (isNullable(body)) throw new UnsupportedRegexError("what it repeats can be empty");
    const inside = groupsIn(body);
    function turn(): void {
      if (inside.length > 0)
        steps.push({ op: "reset", from: 2 * Math.min(...inside), to: 2 * Math.max(...inside) + 1 });
      emit(body, steps, backwards);
    }
    /** One more turn, or none; gives what is to learn where it ends. */
    function perhaps(): (end: number) => void {
      const split: Step & { next: number; other: number } = { op: "split", next: 0, other: 0 };
      steps.push(split);
      split[greedy ? "next" : "other"] = steps.length;
      turn();
      return (end) => void (split[greedy ? "other" : "next"] = end);
    }
    for (let count = 0; count < least; count += 1) turn();
    if (most === Infinity) {
      const loop = steps.length;
      const ends = perhaps();
      steps.push({ op: "jump", next: loop });
      ends(steps.length);
      return;
    }
    const ends: ((end: number) => void)[] = [];
    for (let count = least; count < most; count += 1) ends.push(perhaps());
    for (const end of ends) end(steps.length);
  }

  const steps: Step[] = [{ op: "save", slot: 0 }];
  emit(root, steps, false);
  steps.push({ op: "save", slot: 1 }, { op: "match" });
  return { steps, looks, groups, unicode, multiline, anchored: isAnchored(root, multiline) };
}
