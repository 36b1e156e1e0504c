import type { FoldedName } from "./secret-names.ts";

/** Whether a body may have the name of a secret, user info of a URL, or what may hide one. Never wrongly false. */
export type MayHaveName = (bytes: Uint8Array) => boolean;

/** A state of the automaton: the letters of names that were read last. */
interface State {
  readonly id: number;
  readonly next: Map<number, State>;
  /** The state of the longest suffix of these letters that is the start of a name. */
  fallback: State | undefined;
  /** Bytes that end a name, if the letters are one. */
  endsBefore: (byte: number) => boolean;
}

const BYTES = 256;
const isLetter = (byte: number): boolean => /[a-z0-9]/i.test(String.fromCharCode(byte));
/** What may be between the letters of a name, as in `foldName`. */
const isBetween = (byte: number): boolean => /[\0-\x20+_\x7f-]/.test(String.fromCharCode(byte));
/** What may hide letters: escapes, and all that is not ASCII. */
const isHiding = (byte: number): boolean => byte > 0x7f || /[%\\]/.test(String.fromCharCode(byte));

/** What may be in front of the user info of a URL. */
const SLASHES = "//";
/** `name=` and `name*=` in a text may be followed by the name of a secret without a sign that ends it. */
const FORM_NAME = "name";
const isFormSign = (byte: number): boolean => /[=*]/.test(String.fromCharCode(byte));

/** The states for all starts of all names (Aho and Corasick, 1975). */
function createStates(names: readonly FoldedName[]): State[] {
  const states: State[] = [];
  const create = (): State => {
    const state = { id: states.length, next: new Map(), fallback: undefined, endsBefore: () => false };
    states.push(state);
    return state;
  };
  const root = create();
  const add = (name: string, endsBefore: State["endsBefore"]): void => {
    let state = root;
    for (const byte of Buffer.from(name)) {
      const next: State = state.next.get(byte) ?? create();
      state.next.set(byte, next);
      state = next;
    }
    const { endsBefore: others } = state;
    state.endsBefore = (byte) => others(byte) || endsBefore(byte);
  };
  for (const { name, isWord } of names) add(name, (byte) => isWord || !isLetter(byte));
  add(SLASHES, () => true);
  add(FORM_NAME, isFormSign);

  // Breadth first: a fallback is shorter than its state.
  for (const queue = [root]; queue.length > 0;) {
    const state = queue.shift() as State;
    for (const [byte, next] of state.next) {
      next.fallback = state === root ? root : follow(state.fallback ?? root, byte);
      const { endsBefore, fallback } = next;
      next.endsBefore = (byte) => endsBefore(byte) || fallback.endsBefore(byte);
      queue.push(next);
    }
  }
  return states;
}

/** The state after a letter. */
function follow(state: State, byte: number): State {
  for (let from: State | undefined = state; from; from = from.fallback) {
    const next = from.next.get(byte);
    if (next) return next;
    if (!from.fallback) return from;
  }
  return state;
}

/**
 * Compiles the names to an automaton that reads each byte once, with one look-up and no branch. Four parts of a body are read
 * at the same time, because each look-up of a part must wait for the one before.
 */
export function createNameScanner(names: readonly FoldedName[]): MayHaveName {
  const states = createStates(names);
  /** The state that is never left: a name was found. */
  const found = states.length * BYTES;
  const table = new Uint32Array(found + BYTES).fill(found);
  for (const state of states) {
    for (let byte = 0; byte < BYTES; byte += 1) {
      if (isHiding(byte)) continue;
      const at = state.id * BYTES + byte;
      const lowerCase = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
      if (isBetween(byte)) table[at] = state.id * BYTES;
      else if (!state.endsBefore(byte)) table[at] = follow(state, lowerCase).id * BYTES;
    }
  }

  /** Reads on until no name that started before can continue. */
  function finish(from: number, bytes: Uint8Array, start: number): number {
    let state = from;
    for (let at = start; at < bytes.length && state !== 0 && state !== found; at += 1)
      state = table[state + (bytes[at] as number)] as number;
    return state;
  }

  return (bytes) => {
    const quarter = bytes.length >>> 2;
    const [second, third] = [2 * quarter, 3 * quarter];
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let at = 0; at < quarter; at += 1) {
      a = table[a + (bytes[at] as number)] as number;
      b = table[b + (bytes[at + quarter] as number)] as number;
      c = table[c + (bytes[at + second] as number)] as number;
      d = table[d + (bytes[at + third] as number)] as number;
    }
    // The last part takes the bytes that are left of four equal ones.
    for (let at = 4 * quarter; at < bytes.length; at += 1) d = table[d + (bytes[at] as number)] as number;
    return (
      d === found ||
      finish(a, bytes, quarter) === found ||
      finish(b, bytes, second) === found ||
      finish(c, bytes, third) === found
    );
  };
}
