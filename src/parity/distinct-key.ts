/** The key of a comparison. Equal keys prove one case: a client that polls one list proves no more by asking again. */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isObject } from "../dialect/json/parse.ts";
import { parseBody, type AnswerRules } from "./compare-answers.ts";
import { canonicalText, joinField } from "./compare-values.ts";
import type { Answer } from "./comparison.ts";
import { filterOf, splitTarget, type ComparedRequest } from "./compared-request.ts";
import type { VolatileFields } from "./volatile-fields.ts";

const KEY_BYTES = 8;

/** A request without what does not change its meaning: the order of its parameters, and blanks in its filter. */
function normalizeRequest(request: ComparedRequest): readonly unknown[] {
  const [path, query] = splitTarget(request.path);
  const parameters = [...new URLSearchParams(query)].map((each) => JSON.stringify(each)).toSorted();
  const filter = filterOf(request);
  return [request.method, path, parameters, filter === undefined ? request.filter : canonicalText(filter)];
}

/** Leaves volatile fields out. Lists without an order get one, so that the same rows have the same text. */
function stableText(value: unknown, field: string, volatile: ReadonlySet<string>): string {
  if (volatile.has(field)) return "";
  if (Array.isArray(value)) {
    const texts = value.map((item) => stableText(item, field, volatile));
    return `[${(value.every(Array.isArray) ? texts : texts.sort()).join()}]`;
  }
  if (!isObject(value)) return JSON.stringify(value) ?? "";
  let text = "{";
  for (const name of Object.keys(value).sort()) {
    const member = volatile.size === 0 ? "" : joinField(field, name);
    text += `${JSON.stringify(name)}:${stableText(value[name], member, volatile)},`;
  }
  return `${text}}`;
}

/** Digests of answers by those of their bytes: most answers come again as they were, and to read one takes long. */
const digests = new LRUCache<string, string>({ max: 5000 });

/** The digest of an answer without its volatile fields. */
function digestOf(old: Answer, volatile: ReadonlySet<string>): string {
  const bytes = JSON.stringify([hash("sha256", old.body, "base64url"), ...volatile]);
  const known = digests.get(bytes);
  if (known !== undefined) return known;
  const body = parseBody(old);
  const digest = hash("sha256", "value" in body ? stableText(body.value, "", volatile) : old.body);
  digests.set(bytes, digest);
  return digest;
}

/**
 * The hash of a route, a request and the old answer, without its volatile fields.
 *
 * @returns 64 bits, base64url
 */
export function distinctKey(
  { route }: Pick<AnswerRules, "route">,
  request: ComparedRequest,
  old: Answer,
  volatile: VolatileFields,
): string {
  const digest = digestOf(old, volatile.fieldsOf(route.name));
  const text = JSON.stringify([route.name, normalizeRequest(request), old.status, digest]);
  return hash("sha256", text, "buffer").subarray(0, KEY_BYTES).toString("base64url");
}
