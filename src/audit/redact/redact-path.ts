import type { Edit } from "./edits.ts";
import { decodeFormText, readName, unescapeText } from "./escapes.ts";
import type { NameKind, SecretNames } from "./secret-names.ts";
import type { SecretValues } from "./secret-values.ts";

/** Matches an id of either dialect. */
const ID = /^(?:0|[1-9]\d{0,15})$/;
/**
 * Matches words, with up to a few digits at the end, and numbers. They may be names of users. Generated secrets do not
 * have this form.
 */
const WORDS = /^(?:[a-z]+\d{0,4}|\d{1,6})(?:[-_.](?:[a-z]+\d{0,4}|\d{1,6}))*$/i;

/** Verbs about a secret, and `value`. After a secret name, such a segment is not the value, but the value may follow it. */
const ACTIONS: ReadonlySet<string> = new Set(
  (
    "accept cancel change check confirm create delete expire forgot generate introspect list login logout new recover refresh " +
    "register renew request resend reset revoke rotate send set sign signin signup status update validate value values verify"
  ).split(" "),
);

/** Actions before a one-time code, as in links of emails: `/reset/X`. */
const ACTIONS_WITH_CODE: ReadonlySet<string> = new Set(
  "activate confirm forgot invite magic recover reset unlock unsubscribe verify".split(" "),
);

/** Returns the segments of a path, with their offsets. */
export const segmentsOf = (path: string): RegExpStringIterator<RegExpExecArray> => path.matchAll(/[^/]+/g);

/** Decodes a path, even if proxies have encoded it several times. A plus sign in a path is not a space. */
export const decodePath = unescapeText;

/** Finds parts of a path in the decoded path. No part starts or ends within a run of percent-encoded bytes. */
export function findDecoded(path: string, parts: readonly Edit[]): Edit[] {
  let [done, length] = [0, 0];
  return parts.map(({ start, end }) => {
    const from = length + decodePath(path.slice(done, start)).length;
    length = from + decodePath(path.slice(start, end)).length;
    done = end;
    return { start: from, end: length };
  });
}

/** Finds the segments that are values: those after a secret name or after an action such as `reset`, and codes. */
function findFollowers(path: string, names: SecretNames): Edit[] {
  const values: Edit[] = [];
  /** Whether the next segment is a value, or only if it is not a number, or not a secret name. */
  let follows: NameKind | "code" = "none";
  for (const { index, 0: segment } of segmentsOf(path)) {
    const name = readName(segment);
    const action = name.toLowerCase();
    if (follows === "none" && ACTIONS_WITH_CODE.has(action)) follows = "code";
    if (ACTIONS.has(action) || ACTIONS_WITH_CODE.has(action)) continue;
    const kind = names.kindOf(name);
    const isValue = {
      secret: true,
      texts: !ID.test(segment),
      code: kind !== "secret" && kind !== "texts",
      value: false,
      none: false,
    };
    if (isValue[follows]) values.push({ start: index, end: index + segment.length });
    follows = kind;
  }
  return values;
}

/**
 * Finds the values among the segments of a decoded path. In a route, the segment after a secret name may be a literal,
 * so only parameters are searched. A parameter with encoded slashes is searched as a path.
 */
export function findValueSegments(given: string, isRoute: boolean, names: SecretNames): Edit[] {
  let before = 0;
  return (isRoute ? given.split("/") : [given]).flatMap((part) => {
    const path = decodePath(part);
    const offset = before;
    before += path.length + 1;
    return findFollowers(path, names).map(({ start, end }) => ({ start: start + offset, end: end + offset }));
  });
}

/** Whether a segment of a route's path is kept: a literal, an id, or a word that is not a token. */
export function isPlainSegment(
  segment: string,
  values: SecretValues | undefined,
  literals: ReadonlySet<string> | undefined,
): boolean {
  const text = decodeFormText(segment);
  if (literals?.has(text) || ID.test(text)) return true;
  return values?.isComplete === true && WORDS.test(text) && !values.isToken(text);
}

/**
 * Finds the values in the path of a route. A client chooses which values are secret, but it must not be able to hide
 * the route that it called. So literals, ids and words that are not tokens are kept.
 */
export function findInRoute(
  path: string,
  values: SecretValues,
  literals: ReadonlySet<string> | undefined,
): Edit[] {
  const plain = [...segmentsOf(path)].filter(({ 0: segment }) => isPlainSegment(segment, values, literals));
  const ends = [...plain.map(({ index }) => index), path.length];
  const starts = [0, ...plain.map(({ index, 0: segment }) => index + segment.length)];
  return starts.flatMap((start, index) => {
    const piece = path.slice(start, ends[index]);
    if (/^\/*$/.test(piece)) return [];
    return values.findIn(piece).map(({ start: from, end }) => ({ start: start + from, end: start + end }));
  });
}
