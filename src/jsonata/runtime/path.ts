import { tick } from "./guard.ts";
import { sequence, type List } from "./sequence.ts";

/** Steps of a path over lists. What has members is walked, and what every member gives is one list again. */

/** Whether a name can be looked up in a value directly. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member by name, in every member of a list; never what JavaScript itself gives an object. */
export function lookup(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return lookupEach(value, name);
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function lookupEach(values: readonly unknown[], name: string): List {
  const found = sequence();
  for (const value of values) {
    const result = lookup(value, name);
    if (Array.isArray(result)) for (const member of result) found.push(member);
    else if (result !== undefined) found.push(result);
  }
  return found;
}

/** The name step: what {@link lookup} finds, collapsed. */
export function field(value: unknown, name: string): unknown {
  if (!Array.isArray(value)) return lookup(value, name);
  const found = lookupEach(value, name);
  return found.length > 1 ? found : found[0];
}

/** The same behind which `[]` stands: what is one stays a list, and what is none is nothing all the same. */
export function keptField(value: unknown, name: string): unknown {
  if (!Array.isArray(value)) return lookup(value, name);
  const found = lookupEach(value, name);
  return found.length > 0 ? found : undefined;
}

/** The things that the next step goes over. */
export function items(value: unknown): List {
  if (!Array.isArray(value)) return value === undefined ? sequence() : sequence(value);
  if ((value as List).cons) return sequence(value);
  return value.length === 0 ? sequence() : value;
}

/** The things that the first step goes over. */
export const contextItems = (context: unknown): List =>
  Array.isArray(context) ? context : sequence(context);

/** Collects what a step gives for each item. */
interface Gathered {
  readonly list: List;
  count: number;
  only: unknown;
}

const gathering = (): Gathered => ({ list: sequence(), count: 0, only: undefined });

function gather(into: Gathered, result: unknown): void {
  if (result === undefined) return;
  into.count += 1;
  into.only = result;
  if (!Array.isArray(result) || (result as List).cons) into.list.push(result);
  else for (const member of result) into.list.push(member);
}

/** At its end, a path that found one array found that array, not its members. */
function gathered({ list, count, only }: Gathered, last: boolean): List {
  return last && count === 1 && Array.isArray(only) && !(only as List).sequence ? only : list;
}

/** One step of a path. */
export function step(list: List, evaluate: (item: unknown) => unknown, last: boolean): List {
  if (list.length === 0) return sequence();
  tick(list.length);
  const into = gathering();
  for (const item of list) gather(into, evaluate(item));
  return gathered(into, last);
}

/** Several name steps over a list. */
export function follow(list: List, names: readonly string[], last: boolean): List {
  let found = list;
  const end = names.length - 1;
  for (const [index, name] of names.entries()) {
    if (found.length === 0) return sequence();
    const into = gathering();
    for (const item of found) gather(into, field(item, name));
    found = gathered(into, last && index === end);
  }
  return found;
}

/** `*`: the values of an object's members; arrays among them are taken apart. */
export function wildcard(context: unknown): unknown {
  const list = Array.isArray(context) ? (context as List) : undefined;
  const input: unknown = list?.outerWrapper && list.length > 0 ? list[0] : context;
  if (typeof input !== "object" || input === null) return sequence();
  const values: List = [];
  let plain = false;
  for (const value of Object.values(input)) {
    if (Array.isArray(value)) {
      plain = true;
      for (const member of value.flat(Infinity) as unknown[]) values.push(member);
    } else values.push(value);
  }
  if (!plain) values.sequence = true;
  return values;
}

/** `**`: a value and everything inside it. */
export function descendants(context: unknown): unknown {
  if (context === undefined) return undefined;
  const found = sequence();
  descend(context, found);
  return found.length === 1 ? found[0] : found;
}

function descend(value: unknown, found: List): void {
  tick();
  if (!Array.isArray(value)) found.push(value);
  if (typeof value !== "object" || value === null) return;
  for (const member of Array.isArray(value) ? value : Object.values(value)) descend(member, found);
}
