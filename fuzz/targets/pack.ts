/** The text of a mapping file: it is refused with places that exist, or loaded. */
import { PackError } from "../../src/mapping/load/diagnostic.ts";
import { buildPack, parsePack } from "../../src/mapping/load/load-pack.ts";
import { hold, type Target } from "../target.ts";

const OPERATORS = ["and", "or", "gt", "gte", "lt", "lte", "contains", "neq", "order_by", "order"];

/** The rest of the pack: one of each thing that a mapping file can name. */
const DIALECT = {
  file: "pack.yaml",
  text: `words: []
alpha:
  prefix: /old
  scheme: key
  envelope: { page: n, pages: m, results: k }
  page_size: 9
  reference: id
  always_ok: { request: x, answer: y }
  parameters: { n: integer, t: text }
v4:
  prefix: /new
  scheme: key
  envelope: { items: i, page: n, pages: m, results: k }
  page_size: { parameter: s, largest: 9 }
  scopes_header: z
  reference: id
page: p
errors: { list: l, reason: r, field: f }
statuses: { same: [404], rate_limited: { v4: 429, alpha: 429, phrase: w }, other_4xx: 400, other: 500 }
reasons: { unknown_record: u }
filter:
  header: h
  operators:
    ${OPERATORS.map((is) => `$${is}: { is: ${is} }`).join("\n    ")}
scopes: { levels: [look], all: all, resources: { a: b }, also: {}, v4_levels: { look: r }, alpha_levels: { r: look } }
secrets: []
values: { kind: { read: { in: out } } }
first: { before: { v4: "GET /p/{n}" } }
parts: { part: { inputs: { q: { v4: q } }, schema: { properties: { q: {} } } } }
`,
};

/** What each mapping file has, and a little more: runs are many, and short files are read soon. */
const file = (rest: string, fields = "n: id"): string =>
  `object: a\nlist: as\nfields: { ${fields} }\n${rest}\n`;
const SEEDS = [
  file("", "n: id, k: { v4: x.k, as: kind, filter: true, also: [o], accepts: [json] }"),
  file("", "n: id, r: { read: '$with.w.x', or: null, loss: none }, d: { v4: d, type: date-time }"),
  file("", "s: { v4: s, object: a, array: true }, f: { const: &c [1, { x: y }] }, g: { const: *c }"),
  file("inputs: { i: { v4: j } }\nbodies:\n  make: { uses: [part], add: { x: 1 }, schema: {} }"),
  file(
    "bodies: { b: { schema: { required: [n], properties: { n: { type: string, maxLength: 9 } } }, checks: [{ field: n, fault: '$first.x' }] } }",
  ),
  file("bodies: { b: { schema: {}, from_path: { v: n }, over: { f: before }, default: { x: null } } }"),
  file("routes:\n  - { alpha: GET /as, scope: 'a:look', v4: GET /bs, gives: list, where: { y: 2 } }"),
  file(
    "routes: [{ alpha: GET /as, scope: token, v4: GET /b, gives: list, collect: { rows: 'x > 1', most: 9 } }]",
  ),
  file(`routes:
  - alpha: GET /as/:n
    scope: token
    v4: GET /bs/{n}
    with: { w: { v4: 'GET /bs/{n}/w', when: 'd' } }
    gives: object`),
  file(`bodies: { b: { schema: {} } }
routes: [{ alpha: PUT /a/:n, scope: token, v4: 'PUT /b/{n}', body: b, first: [before], gives: object, joins: { x: '/c/{n}' } }]`),
  file("routes: [{ alpha: DELETE /a/:n, scope: public, refuse: unknown_record, gives: nothing, blames: n }]"),
  file("routes: [{ alpha: GET /a, scope: token, v4: GET /b, gives: object, of: [{ object: a, when: x }] }]"),
  file(
    `catalog: { v4: [{ call: GET /p, filter: { x: 1 }, listed: false }], hidden_prefix: h/, stub: '{ "id": $id }' }
routes: [{ alpha: GET /as/:t, scope: public, catalog: true, gives: object }]`,
    "id: id, c: { v4: c, catalog: a, brief: true }",
  ),
];

const PARSED_DIALECT = parsePack({ directory: "pack", files: [DIALECT] }).sources;

/** The pack with a text as its mapping file. @throws {PackError} where the text is refused. */
function load(text: string): void {
  const parsed = parsePack({ directory: "pack", files: [{ file: "a.yaml", text }] });
  buildPack({ ...parsed, sources: [...parsed.sources, ...PARSED_DIALECT] });
}

// Else nothing but refusals would be looked at.
for (const seed of SEEDS) load(seed);

export const target: Target = {
  name: "pack",
  subject: "The text of a mapping file, loaded",
  covers: ["/src/mapping/", "/src/jsonata/check.ts", "/src/config/product-words.ts"],
  longest: 600,
  seeds: SEEDS,
  dictionary: [
    ..."fields: routes: bodies: inputs: catalog: extends: object: list: array: const: schema: v4: read: write:".split(
      " ",
    ),
    ..."with: when: each: all: keep: takes: file: wait: after: again: changes: empty: shows: uses: over: mark:".split(
      " ",
    ),
    "- { alpha: GET /x",
    "scope: 'a:look'",
    "as: kind",
    "loss: x",
    "&a",
    "*a",
    "<<: ",
    "!!js",
    "? ",
    "{n}",
    ":n",
    "gives: list",
    "body: make",
    "{ type: string, pattern: '",
    "$value",
  ],
  run(input) {
    try {
      load(input);
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      hold("a refusal names its faults", error.diagnostics.length > 0);
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
