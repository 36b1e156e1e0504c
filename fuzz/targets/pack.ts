/** The text of a mapping file: it loads, or is rejected with source locations that exist. */
import { PackError } from "../../src/base/files/diagnostic.ts";
import { buildValidPack } from "../../src/pack/load/load-pack.ts";
import { hold, type Target } from "../target.ts";

/** The rest of the pack, with one of everything that a mapping file can name. */
const DIALECT = {
  file: "pack.yaml",
  text: `format: 2
client:
  name: old
  base_path: /old
  credentials: { scheme: key }
  path_parameters: { n: integer, t: text }
  pagination: { page: { parameter: p }, size: 9 }
  filters: { header: h, operators: { and: $and, gt: $gt, order_by: $by } }
  responses: { list: { $list: $items, n: $page, m: $pages, k: $total }, error: { l: [{ r: $message, f: $field }] } }
upstream:
  name: new
  base_path: /new
  credentials: { scheme: key }
  pagination: { page: { parameter: p }, size: { parameter: s, maximum: 9 } }
  filters: { header: h, operators: { and: and, gt: gt, order_by: by } }
  responses: { list: { i: $items, n: $page, m: $pages, k: $total }, error: { l: [{ r: $message, f: $field }] } }
errors: { statuses: { 404: 404, 4XX: 400, default: 500 } }
messages: { unknown_record: u }
scopes: { levels: [look], all: all, resources: { a: b }, upstream_levels: { look: r }, client_levels: { r: look }, header: z }
values: { kind: { read: { in: out } } }
calls: { before: { at: before, upstream: "GET /p/{n}" } }
parts: { part: { inputs: { q: { upstream: q } }, schema: { properties: { q: {} } } } }
`,
};

/** A short mapping file with the required keys and a few more, so that many runs are possible. */
const file = (rest: string, fields = "n: id"): string =>
  `object: a\nlist: as\nfields: { ${fields} }\n${rest}\n`;
const SEEDS = [
  file("", "n: id, k: { upstream: x.k, values: kind, filter: true, aliases: [o], accepts: [json] }"),
  file(
    "",
    "n: id, r: { read: '$calls.w.x', default: null, loss: none }, d: { upstream: d, format: date-time }",
  ),
  file("", "s: { upstream: s, object: a, as_array: true }, f: { const: &c [1, { x: y }] }, g: { const: *c }"),
  file("inputs: { i: { upstream: j } }\nbodies:\n  make: { parts: [part], set: { x: 1 }, schema: {} }"),
  file(
    "bodies: { b: { schema: { required: [n], properties: { n: { type: string, maxLength: 9 } } }, checks: [{ field: n, message: '$calls.before.x' }] } }",
  ),
  file("bodies: { b: { schema: {}, from_path: { v: n }, merge_with: { f: before }, default: { x: null } } }"),
  file(
    "routes:\n  - { client: GET /as, scope: 'a:look', upstream: GET /bs, response: list, where: { y: 2 } }",
  ),
  file(
    "routes: [{ client: GET /as, upstream: GET /b, response: list, aggregate: { include: 'x > 1', max_items: 9 } }]",
  ),
  file(`routes:
  - client: GET /as/:n
    upstream: GET /bs/{n}
    calls: [{ name: w, upstream: 'GET /bs/{n}/w', when: 'd' }]`),
  file(`bodies: { b: { schema: {} } }
routes: [{ client: PUT /a/:n, upstream: 'PUT /b/{n}', body: b, calls: [before, { part: x, upstream: 'PUT /c/{n}' }] }]`),
  file(
    "routes: [{ client: DELETE /a/:n, scope: public, reject: unknown_record, response: none, not_found_field: n }]",
  ),
  file("routes: [{ client: GET /a, upstream: GET /b, one_of: [{ object: a, when: x }] }]"),
  file(
    `catalog: { upstream: [{ request: GET /p, filter: { x: 1 }, listed: false }], hidden_prefix: h/, stub: '{ "id": $id }' }
routes: [{ client: GET /as/:t, scope: public, catalog: true }]`,
    "id: id, c: { upstream: c, catalog: a, id_only: true }",
  ),
];

/** The pack with a text as its mapping file. @throws {PackError} if the text is rejected. */
const load = (text: string): unknown =>
  buildValidPack({ directory: "pack", files: [{ file: "a.yaml", text }, DIALECT] }, {});

// Without this check all inputs could be rejected unnoticed.
for (const seed of SEEDS) load(seed);

export const target: Target = {
  name: "pack",
  subject: "The text of a mapping file, loaded",
  covers: [
    "/src/pack/",
    "/src/base/files/",
    "/src/jsonata/check-expression.ts",
    "/src/base/settings/product-words.ts",
  ],
  longest: 600,
  seeds: SEEDS,
  dictionary: [
    ..."fields: routes: bodies: inputs: catalog: extends: object: list: as_array: const: schema: upstream: read: write:".split(
      " ",
    ),
    ..."calls: at: when: each: values: part: answer: fallback: repeat: unfinished: all_pages: cache_seconds: upload: file: retry: only_changes: empty: read_route: parts: merge_with: boundary:".split(
      " ",
    ),
    "- { client: GET /x",
    "scope: 'a:look'",
    "values: kind",
    "loss: x",
    "&a",
    "*a",
    "<<: ",
    "!!js",
    "? ",
    "{n}",
    ":n",
    "response: list",
    "body: make",
    "{ type: string, pattern: '",
    "$value",
  ],
  run(input) {
    try {
      load(input);
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      hold("a rejection has diagnostics", error.diagnostics.length > 0);
      const lines = input.split("\n").length;
      for (const { file, line, column, message } of error.diagnostics) {
        hold(
          "a fault has a place",
          Number.isInteger(line) && Number.isInteger(column) && line >= 1 && column >= 1,
        );
        hold("the place exists", file !== "a.yaml" || line <= lines + 1);
        hold("a fault says what it is", message !== "");
      }
    }
  },
};
