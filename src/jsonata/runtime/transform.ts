import { apply, builtin, type Callable } from "./call.ts";
import { Failure } from "./failure.ts";
import { isRecord } from "./path.ts";
import { signatureOf } from "./signature.ts";
import { put } from "./values.ts";

/** `|pattern|update, delete|`: a function that changes parts of a copy. */
interface Transform {
  readonly clone: unknown;
  readonly pattern: (copy: unknown) => unknown;
  readonly update: (match: unknown) => unknown;
  readonly remove: ((match: unknown) => unknown) | undefined;
  /** Positions of the whole, its update and its deletion. */
  readonly positions: readonly [number, number, number];
}

const listed = (value: unknown): unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

function change(match: unknown, update: unknown, position: number): void {
  if (update === undefined) return;
  if (!isRecord(update)) throw new Failure("T2011", position);
  for (const [name, value] of Object.entries(update)) {
    if (typeof match !== "object" || match === null)
      throw new Failure("unknown", 0, "only an object can be changed");
    put(match as Record<string, unknown>, name, value);
  }
}

function removeFrom(match: unknown, names: unknown, position: number): void {
  const list = listed(names);
  if (list.some((name) => typeof name !== "string")) throw new Failure("T2012", position);
  if (typeof match !== "object" || match === null) return;
  for (const name of list) Reflect.deleteProperty(match, name as string);
}

export function transform({ clone, pattern, update, remove, positions }: Transform): Callable {
  const [whole, ofUpdate, ofRemoval] = positions;
  const run = (value: unknown): unknown => {
    if (value === undefined) return undefined;
    if (typeof clone !== "function") throw new Failure("T2013", whole);
    const copy = apply(clone, [value], null);
    for (const match of listed(pattern(copy))) {
      change(match, update(match), ofUpdate);
      if (remove) removeFrom(match, remove(match), ofRemoval);
    }
    return copy;
  };
  return builtin(run, 1, signatureOf("<(oa):o>"));
}
