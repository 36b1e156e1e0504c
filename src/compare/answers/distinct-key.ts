/** The key of a comparison. Equal keys prove one case, so a client that polls a list proves nothing new. */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isObject } from "../../base/index.ts";
import type { Route } from "../../pack/index.ts";
import { canonicalText } from "./align-rows.ts";
import { joinField, pageFields, parseBody, type AnswerRules } from "./compare-answers.ts";
import type { Answer, ComparedRequest } from "./comparison.ts";
import { splitTarget } from "../../gateway/index.ts";
import { filterOf } from "./compared-request.ts";
import type { VolatileFields } from "./volatile-fields.ts";

const KEY_BYTES = 8;

/** Decodes a path, because different escapes have the same meaning. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Returns the parts of a request that the translation reads: without ignored parameters, without a filter if there is
 * no list, and regardless of the order of parameters and of blanks in the filter.
 */
function normalizeRequest(request: ComparedRequest, { query: rules, response }: Route): readonly unknown[] {
  const [path, query] = splitTarget(request.path);
  const read = [...new URLSearchParams(query)].filter(([name]) => rules.reads(name));
  const parameters = read.map((each) => JSON.stringify(each)).toSorted();
  const filter = filterOf(request);
  const text = filter === undefined ? request.filter : canonicalText(filter);
  return [request.method, decodePath(path), parameters, response === "list" ? text : null];
}

/** The text of a value without volatile fields. Lists without an order are sorted, so that the same rows have the same text. */
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

/** Digests of responses, indexed by their bytes. Most responses repeat unchanged, and parsing a response takes long. */
const digests = new LRUCache<string, string>({ max: 5000 });

/** Returns the digest of a response without its volatile fields. */
function digestOf(old: Answer, volatile: ReadonlySet<string>): string {
  const bytes = JSON.stringify([hash("sha256", old.body, "base64url"), ...volatile]);
  const known = digests.get(bytes);
  if (known !== undefined) return known;
  const body = parseBody(old);
  const digest = hash("sha256", typeof body === "string" ? old.body : stableText(body.value, "", volatile));
  digests.set(bytes, digest);
  return digest;
}

/**
 * Returns the hash of a route, a request and the old response, without its volatile fields and links to other pages.
 *
 * @returns 64 bits, base64url
 */
export function distinctKey(
  { route }: Pick<AnswerRules, "route">,
  request: ComparedRequest,
  old: Answer,
  volatile: Pick<VolatileFields, "fieldsOf">,
): string {
  const digest = digestOf(old, volatile.fieldsOf(route.name).union(pageFields({ route })));
  const text = JSON.stringify([route.name, normalizeRequest(request, route), old.status, digest]);
  return hash("sha256", text, "buffer").subarray(0, KEY_BYTES).toString("base64url");
}
