import { decodeFormText, unescapeText } from "./escapes.ts";
import type { SecretNames } from "./secret-names.ts";
import { REDACTED, type SecretValues } from "./secret-values.ts";

/** An id of either dialect. */
const ID = /^(?:0|[1-9]\d{0,15})$/;
/** Words, also followed by a few digits, and numbers: names of users. No generated secret looks like them. */
const WORDS = /^(?:[a-z]+\d{0,4}|\d{1,6})(?:[-_.](?:[a-z]+\d{0,4}|\d{1,6}))*$/i;

/** What is done with a secret: such a segment behind its name is no value, and the value may follow it. */
const ACTIONS: ReadonlySet<string> = new Set(
  (
    "accept cancel change check confirm create delete expire forgot generate introspect list login logout new recover refresh " +
    "register renew request resend reset revoke rotate send set sign signin signup status update validate verify"
  ).split(" "),
);

export interface PathRedaction {
  readonly secrets: SecretNames;
  /** Segments that stay in the path of a route. */
  readonly literals: ReadonlySet<string> | undefined;
  /** Values that are replaced wherever they are. */
  readonly values: SecretValues | undefined;
  /** Collects each value that follows a secret name. */
  readonly found: SecretValues | undefined;
  readonly redactSegment: (segment: string) => string;
  readonly removeUserInfo: (text: string) => string;
}

/**
 * Redacts a path, segment by segment.
 *
 * @param isRoute Whether the path is that of a route. In any other path a segment after a secret name is its value, also behind
 *   an action such as `reset`; in a route it may be a literal. The literals of a route, ids and plain words stay, whatever the client calls secret.
 */
export function redactPath(path: string, isRoute: boolean, options: PathRedaction): string {
  const redacted = redactNames(path, isRoute, options);
  return isRoute ? redactValues(redacted, options) : concealIn(redacted, options);
}

function redactNames(path: string, isRoute: boolean, options: PathRedaction): string {
  const { secrets, found, redactSegment, removeUserInfo } = options;
  const bare = removeUserInfo(path);
  const text = decodeFormText(bare.replaceAll("+", "%2B"));
  /** Whether the next segment is a value, or would be one if it is no number. */
  let follows: "secret" | "text" | undefined;
  const redacted = removeUserInfo(text)
    .split("/")
    .map((segment) => {
      if (segment === "") return segment;
      const name = unescapeText(segment);
      const isAction = ACTIONS.has(name.toLowerCase());
      const isValue = !isAction && (follows === "secret" || (follows === "text" && !ID.test(segment)));
      if (isRoute) follows = undefined;
      else if (!isAction)
        follows = secrets.has(name) ? "secret" : secrets.hasTexts(name) ? "text" : undefined;
      if (!isValue) return redactSegment(segment);
      found?.add([segment, encodeURIComponent(segment.toWellFormed())]);
      return REDACTED;
    })
    .join("/");
  return redacted === text ? bare : redacted;
}

/** Whether a segment of a route's path stays: it is a literal, an id, or a word that is not a token. */
function isPlain(segment: string, { literals, values }: PathRedaction): boolean {
  const text = decodeFormText(segment);
  if (literals?.has(text) || ID.test(text)) return true;
  return values?.isComplete === true && WORDS.test(text) && !values.isToken(text);
}

/** A client chooses which values are secret. It must not be able to hide by them which route it called. */
function redactValues(path: string, options: PathRedaction): string {
  let redacted = "";
  let pending = "";
  for (const [index, segment] of path.split("/").entries()) {
    if (index > 0) pending += "/";
    if (segment === "" || !isPlain(segment, options)) pending += segment;
    else {
      redacted += concealIn(pending, options) + segment;
      pending = "";
    }
  }
  return redacted + concealIn(pending, options);
}

const concealIn = (text: string, { values }: PathRedaction): string =>
  values === undefined || /^\/*$/.test(text) ? text : values.conceal(text);
