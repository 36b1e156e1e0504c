import { apply, createBuiltin, type Callable } from "./call.ts";
import { Failure } from "./failure.ts";
import { isRecord } from "./path.ts";
import { parseSignature } from "./signature.ts";
import { setMember } from "../../base/index.ts";

/** The parts of a transform `|pattern|update, delete|`. */
interface Transform {
  readonly clone: unknown;
  readonly pattern: (copy: unknown) => unknown;
  readonly update: (match: unknown) => unknown;
  readonly remove: ((match: unknown) => unknown) | undefined;
  /** Positions of the transform, its update and its deletion. */
  readonly positions: readonly [number, number, number];
}

const toArray = (value: unknown): unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

function applyUpdate(match: unknown, update: unknown, position: number): void {
  if (update === undefined) return;
  if (!isRecord(update)) throw new Failure("T2011", position);
  for (const [name, value] of Object.entries(update)) {
    if (typeof match !== "object" || match === null)
      throw new Failure("unknown", 0, "only an object can be changed");
    // The interpreter assigns it, which sets a prototype that no expression sees.
    if (name === "__proto__" && !Object.hasOwn(match, name)) continue;
    setMember(match as Record<string, unknown>, name, value);
  }
}

function removeMembers(match: unknown, names: unknown, position: number): void {
  const list = toArray(names);
  if (list.some((name) => typeof name !== "string")) throw new Failure("T2012", position);
  if (typeof match !== "object" || match === null) return;
  for (const name of list) Reflect.deleteProperty(match, name as string);
}

/** Creates the function of a transform: it changes the matching parts of a copy of its argument. */
export function createTransform({ clone, pattern, update, remove, positions }: Transform): Callable {
  const [whole, ofUpdate, ofRemoval] = positions;
  const run = (value: unknown): unknown => {
    if (value === undefined) return undefined;
    if (typeof clone !== "function") throw new Failure("T2013", whole);
    const copy = apply(clone, [value], null);
    for (const match of toArray(pattern(copy))) {
      applyUpdate(match, update(match), ofUpdate);
      if (remove) removeMembers(match, remove(match), ofRemoval);
    }
    return copy;
  };
  return createBuiltin(run, 1, parseSignature("<(oa):o>"));
}
