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
/** Matches verbs about a secret, and `value`. After a secret name, such a segment is not the value, but the value may follow it. */
const ACTION =
  /^(?:accept|cancel|change|check|create|delete|expire|generate|introspect|list|log(?:in|out)|new|refresh|register|renew|request|resend|revoke|rotate|send|set|sign(?:in|up)?|status|update|validate|values?)$/i;
/** Matches actions before a one-time code, as in links of emails: `/reset/X`. */
const ACTION_WITH_CODE =
  /^(?:activate|confirm|forgot|invite|magic|recover|reset|unlock|unsubscribe|verify)$/i;

// A path is decoded even if proxies have encoded it several times. A plus sign in a path is not a space: `unescapeText`.

/** Returns the segments of a path, with their offsets. */
export const segmentsOf = (path: string): RegExpExecArray[] => path.matchAll(/[^/]+/g).toArray();

const shift = ({ start, end }: Edit, by: number): Edit => ({ start: start + by, end: end + by });

/** Converts ordered offsets in a path to offsets in the decoded path. None is within a run of percent-encoded bytes. */
export function decodedOffsets(path: string): (at: number) => number {
  let [done, length] = [0, 0];
  return (at) => {
    length += unescapeText(path.slice(done, at)).length;
    done = at;
    return length;
  };
}

/** Finds the segments that are values: those after a secret name or after an action such as `reset`, and codes. */
function findFollowers(path: string, names: SecretNames): Edit[] {
  const values: Edit[] = [];
  /** Whether the next segment is a value, or only if it is not a number, or not a secret name. */
  let follows: NameKind | "code" = "none";
  for (const { index, 0: segment } of segmentsOf(path)) {
    const name = readName(segment);
    if (follows === "none" && ACTION_WITH_CODE.test(name)) follows = "code";
    if (ACTION.test(name) || ACTION_WITH_CODE.test(name)) continue;
    const kind = names.kindOf(name);
    const isSecretName = kind === "secret" || kind === "texts";
    if (
      follows === "secret" ||
      (follows === "texts" && !ID.test(segment)) ||
      (follows === "code" && !isSecretName)
    )
      values.push({ start: index, end: index + segment.length });
    follows = kind;
  }
  return values;
}

/**
 * Finds the values among the segments of a path, in the decoded path. In a route, the segment after a secret name may be
 * a literal, so only parameters are searched. A parameter with encoded slashes is searched as a path.
 */
export function findValueSegments(given: string, isRoute: boolean, names: SecretNames): Edit[] {
  const offset = decodedOffsets(given);
  return (isRoute ? segmentsOf(given) : [{ index: 0, 0: given }]).flatMap(({ index, 0: part }) => {
    const from = offset(index);
    return findFollowers(unescapeText(part), names).map((found) => shift(found, from));
  });
}

/** The values of an exchange, and the segments that the dialects define. */
interface RouteTexts {
  readonly values?: SecretValues | undefined;
  readonly literals?: ReadonlySet<string> | undefined;
}

/** Whether a segment of a route's path is kept: a literal, an id, or a word that is not a token. */
export function isPlainSegment(segment: string, { values, literals }: RouteTexts): boolean {
  const text = decodeFormText(segment);
  if (literals?.has(text) || ID.test(text)) return true;
  return values?.isComplete === true && WORDS.test(text) && !values.isToken(text);
}

/**
 * Finds the values in the path of a route. A client chooses which values are secret, but it must not be able to hide
 * the route that it called. So literals, ids and words that are not tokens are kept.
 */
export function findInRoute(path: string, texts: RouteTexts): Edit[] {
  const plain = segmentsOf(path).filter(({ 0: segment }) => isPlainSegment(segment, texts));
  let before = 0;
  return [...plain, { index: path.length, 0: "" }].flatMap(({ index, 0: segment }) => {
    const [piece, from] = [path.slice(before, index), before];
    before = index + segment.length;
    const found = /^\/*$/.test(piece) ? [] : (texts.values?.findIn(piece) ?? []);
    return found.map((edit) => shift(edit, from));
  });
}
