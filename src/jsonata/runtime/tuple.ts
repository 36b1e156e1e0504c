import { tick } from "./guard.ts";
import { append, sequenceOf, type List } from "./sequence.ts";
import { timesKept } from "./filter.ts";

/**
 * Paths that bind variables on their way, with `@$v` and `#$i`, or that someone asks for parents with `%`: a
 * stream of tuples, each with the thing found under "@" and the variables bound so far.
 */
export type Tuple = Readonly<Record<string, unknown>>;

type Evaluate = (item: unknown, tuple: Tuple) => unknown;

const tupleOf = (parts: Tuple, more: Tuple): Tuple =>
  Object.assign(Object.create(null) as Record<string, unknown>, parts, more);

/** The stream of a path that found nothing before it bound anything: it ends there. */
export const NOTHING: Tuple[] = [];

/** Turns what a path found so far into tuples. `started`: it has gone steps before. */
export function tuples(list: List, started: boolean): Tuple[] {
  return started && list.length === 0 ? NOTHING : list.map((item) => ({ "@": item }));
}

/** What a step binds: what it finds, its place, and the thing that it was found in. */
interface Bound {
  readonly focus?: string;
  readonly index?: string;
  readonly parent?: string;
}

/** One step. Where `focus` binds what is found, the path stays where it was. */
export function tupleStep(
  stream: readonly Tuple[],
  evaluate: Evaluate,
  { focus, index, parent }: Bound,
): Tuple[] {
  if (stream === NOTHING) return NOTHING;
  tick(stream.length);
  const found: Tuple[] = [];
  for (const tuple of stream) {
    const result = evaluate(tuple["@"], tuple);
    if (result === undefined) continue;
    for (const [place, item] of (Array.isArray(result) ? result : [result]).entries()) {
      const more: Record<string, unknown> = { [focus ?? "@"]: item };
      if (index !== undefined) more[index] = place;
      if (parent !== undefined) more[parent] = tuple["@"];
      found.push(tupleOf(tuple, more));
    }
  }
  return found;
}

/** `#$i` behind a predicate or an order: numbers what is left. */
export const tupleIndex = (stream: readonly Tuple[], index: string): readonly Tuple[] =>
  stream === NOTHING ? stream : stream.map((tuple, place) => tupleOf(tuple, { [index]: place }));

export function tupleFilter(stream: readonly Tuple[], predicate: Evaluate): readonly Tuple[] {
  if (stream === NOTHING) return stream;
  tick(stream.length);
  return stream.flatMap((tuple, index) => {
    const times = timesKept(predicate(tuple["@"], tuple), index, stream.length);
    return Array.from({ length: times }, () => tuple);
  });
}

export function tupleNth(stream: readonly Tuple[], place: number): readonly Tuple[] {
  if (stream === NOTHING) return stream;
  const index = Math.floor(place);
  const tuple = stream[index < 0 ? stream.length + index : index];
  return tuple ? [tuple] : [];
}

/** What a path found, without the variables. */
export const untupled = (stream: readonly Tuple[]): List => sequenceOf(stream.map((tuple) => tuple["@"]));

/** The tuples of a group as one, each variable with all its values. */
export function reduceTuples(data: Tuple | readonly Tuple[]): Tuple {
  if (!Array.isArray(data)) return data as Tuple;
  const [first, ...rest] = data as readonly Tuple[];
  const reduced = { ...first };
  for (const tuple of rest)
    for (const [name, value] of Object.entries(tuple)) reduced[name] = append(reduced[name], value);
  return reduced;
}
