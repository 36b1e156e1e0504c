/** A client's filter, through the whole pipeline: it is translated for v4, or the client gets alpha's 400. */
import { createDryRun } from "../../src/compare/dry-run/dry-run.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { hold, type Target } from "../target.ts";
import { pretendedV4 } from "../pretended-v4.ts";

const pack = loadPack("mappings");
const { client, upstream } = pack.dialect;
const header = client.filters?.header?.toLowerCase() ?? "";
const v4Operators = new Set(Object.values(upstream.filters?.operators ?? {}).flat());
const sent: (string | undefined)[] = [];
const pipeline = createDryRun(
  pack,
  pretendedV4(pack, ({ headers }) => {
    sent.push(headers[header]);
    return undefined;
  }),
);
await pipeline.catalogs.refresh();

/** Whether every key that begins like an operator is an operator of v4. */
function onlyV4sOperators(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(onlyV4sOperators);
  if (value === null || typeof value !== "object") return true;
  return Object.entries(value).every(
    ([key, inner]) => (!key.startsWith("+") || v4Operators.has(key)) && onlyV4sOperators(inner),
  );
}

export const target: Target = {
  name: "filter",
  subject: "A client's filter, translated",
  covers: ["/src/pack/filters/", "/src/pack/fields/filter-fields.ts", "/src/pack/fields/value-kinds.ts"],
  longest: 9000,
  seeds: [
    "{}",
    '{"label":"web-1"}',
    '{"datacenter":"newark","+order-by":"label","+order":"desc"}',
    '{"datacenter":{"id":"newark","label":"Newark, NJ"},"status":{"+neq":"offline"}}',
    '{"+or":[{"group":"a"},{"+and":[{"label":{"+contains":"x"}},{"id":{"+gte":5}}]}]}',
    '{"created":{"+gt":"2016-01-01T00:00:00","+lte":"2017-01-01T00:00:00Z"},"+order_by":"id"}',
    '{"distribution":null,"total_transfer":{"+lt":2000.5}}',
  ],
  dictionary: [
    ...Object.values(client.filters?.operators ?? {})
      .flat()
      .map((name) => `"${name}":`),
    ...["label", "id", "datacenter", "status", "created", "group", "__proto__", "constructor"].map(
      (name) => `"${name}":`,
    ),
    '{"id":',
    "null",
    "true",
    '"2016-01-01T00:00:00"',
    '"\\ud800"',
    "[{",
    "}]",
  ],
  async run(input) {
    sent.length = 0;
    // Node decodes the bytes of a header as latin-1.
    const bytes = Buffer.from(input).toString("latin1");
    const { response } = await pipeline.send({
      method: "GET",
      path: `${client.base_path}/vm/instances`,
      headers: { [header]: bytes },
    });
    hold("a filter is translated or rejected", response.status === 200 || response.status === 400);
    JSON.parse(response.body);
    hold("a rejected filter never reaches v4", response.status === 200 || sent.length === 0);
    for (const line of sent) {
      if (line === undefined) continue;
      hold("a header is printable ASCII", /^[\x20-\x7e]*$/.test(line));
      hold(`a filter of ${upstream.base_path} has its operators alone`, onlyV4sOperators(JSON.parse(line)));
    }
  },
};
