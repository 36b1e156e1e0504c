/** Cases that comparisons prove, as short digests in one text: it is small, and read and written fast. */
import { hash } from "node:crypto";

/** Characters of a digest: 48 bits. */
const LENGTH = 8;

/** The digest of a case. @param key See `Compared.key` */
export const caseOf = (key: string): string => hash("sha256", key, "base64url").slice(0, LENGTH);

export const countCases = (cases: string): number => cases.length / LENGTH;

export const listCases = (cases: string): string[] => cases.match(/.{8}/g) ?? [];

export function hasCase(cases: string, one: string): boolean {
  let at = cases.indexOf(one);
  while (at % LENGTH !== 0 && at !== -1) at = cases.indexOf(one, at + 1);
  return at !== -1;
}

/** Adds the cases that are new. @param room For this many. @returns all, and the number of those that found no room */
export function addCases(cases: string, added: string, room: number): readonly [cases: string, left: number] {
  const found = listCases(added).filter((one) => !hasCase(cases, one));
  const kept = found.slice(0, Math.max(0, room));
  return [cases + kept.join(""), found.length - kept.length];
}
