/** Results of comparisons for tests. */
import type { Answer, Compared, Difference } from "../../../src/compare/answers/comparison.ts";

export const answer = (body: unknown, status = 200): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(body)),
});

export const LABEL: Difference = { field: "books.label", kind: "value", old: '"Emma"', new: '"emma"' };

/** A comparison that found both answers equal. */
export const equal = (key: string, others: Partial<Compared> = {}): Compared => ({
  source: "candidate",
  subject: "0123 4567",
  route: "GET /books",
  client: "Ann",
  provenBy: "ann",
  time: Date.now(),
  requestId: `request-${key}`,
  result: "equal",
  key,
  differences: [],
  ...others,
});

/** A comparison with a confirmed difference. */
export const different = (key: string, others: Partial<Compared> = {}): Compared => ({
  ...equal(key),
  result: "different",
  differences: [LABEL],
  sample: {
    method: "GET",
    path: "/v1/books?page=2",
    filter: null,
    old: answer({ books: [{ id: 1, label: "Emma" }] }),
    new: answer({ books: [{ id: 1, label: "emma" }] }),
  },
  ...others,
});
