import type { Pack } from "../../../src/pack/load/pack.ts";
import {
  compareAnswers,
  createAnswerRules,
  type AnswerRules,
} from "../../../src/compare/answers/compare-answers.ts";
import type { Answer } from "../../../src/compare/answers/comparison.ts";

/** An answer with a JSON body, or with a text. */
export const answer = (body: unknown, status = 200, headers: Answer["headers"] = {}): Answer => ({
  status,
  headers,
  body: Buffer.isBuffer(body) ? body : Buffer.from(body === undefined ? "" : JSON.stringify(body)),
});

/** How answers to a request to a route are compared. */
export function rulesFor(pack: Pack, name: string, path = "/x", filter?: unknown): AnswerRules {
  const route = pack.route(name);
  if (!route) throw new Error(`no route ${name}`);
  const text = filter === undefined ? null : JSON.stringify(filter);
  return createAnswerRules(pack, route, { method: "GET", path, filter: text });
}

/** The differences as `field kind`, or why there are none. */
export function differencesOf(old: Answer, other: Answer, rules: AnswerRules): string[] | string {
  const compared = compareAnswers(old, other, rules);
  return typeof compared === "string"
    ? compared
    : compared.map(({ field, kind }) => `${field} ${kind}`.trim());
}
