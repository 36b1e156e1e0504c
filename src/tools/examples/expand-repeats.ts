/**
 * Long lists of examples, written once: an item `{ repeat: 25, of: … }` of a list stands for so many items,
 * numbered from 1. In them `{n}` is the number, `{5200+n}` a number above 5200 — text alone in its quotes is a
 * number, and part of a text otherwise — and `{ cycle: [a, b] }` stands for a, b, a, b and so on.
 */

const NUMBER = /\{(?:(\d+)\+)?n\}/g;
const ONLY_NUMBER = /^\{(?:(\d+)\+)?n\}$/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const above = (base: string | undefined, n: number): number => Number(base ?? 0) + n;

function numbered(value: unknown, n: number): unknown {
  if (typeof value === "string") {
    const only = ONLY_NUMBER.exec(value);
    return only ? above(only[1], n) : value.replace(NUMBER, (_all, base?: string) => String(above(base, n)));
  }
  if (Array.isArray(value)) return value.map((item) => numbered(item, n));
  if (!isObject(value)) return value;
  const { cycle, ...others } = value;
  if (Array.isArray(cycle) && Object.keys(others).length === 0)
    return numbered(cycle[(n - 1) % cycle.length], n);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, numbered(item, n)]));
}

/** Writes out what is repeated in the lists of an example. */
export function expandRepeats(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const { repeat, of, ...others } = isObject(item) ? item : {};
      const repeated = typeof repeat === "number" && of !== undefined && Object.keys(others).length === 0;
      if (!repeated) return [expandRepeats(item)];
      return Array.from({ length: repeat }, (_, index) => numbered(of, index + 1));
    });
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, expandRepeats(item)]));
}
