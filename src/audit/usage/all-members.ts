import { isExactNumber } from "../../base/index.ts";
import { tryParse } from "../record/json-text.ts";

/** The values of a member that an object has several times, in their order. `JSON.parse` keeps only the last one. */
export class RepeatedMember extends Array<unknown> {}

/** The strings of JSON, and the characters around its members. A string without an end matches, so that none is read twice. */
const STRING_OR_SIGN = /"(?:[^"\\]|\\[^])*"?|[{}:]/g;

/** An object as the list of its names and values, in the member of another object. */
const AS_LIST: Readonly<Record<string, string>> = { "{": '{"":[', "}": "]}", ":": "," };

/** Values that are nested deeper are not visited. */
const MAX_DEPTH = 64;

/** The value of a text that is JSON. A member that an object has several times is a {@link RepeatedMember}. Linear time. */
export function parseAllMembers(text: string): { value: unknown } | undefined {
  const parsed = tryParse(text);
  if (!parsed || !text.includes("{")) return parsed;
  const lists = tryParse(text.replace(STRING_OR_SIGN, (part) => AS_LIST[part] ?? part));
  return lists && { value: readLists(lists.value, 0) };
}

function readLists(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || isExactNumber(value) || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => readLists(item, depth + 1));
  const list = (value as { "": readonly unknown[] })[""];
  const members = new Map<unknown, unknown>();
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at];
    const next = readLists(list[at + 1], depth + 1);
    const last = members.get(name);
    if (last instanceof RepeatedMember) last.push(next);
    else members.set(name, members.has(name) ? RepeatedMember.of(last, next) : next);
  }
  return Object.fromEntries(members) as unknown;
}
