/** Any error response of v4, through the whole pipeline: the client gets one of alpha's errors. */
import { isDeepStrictEqual } from "node:util";
import { createDryRun } from "../../src/compare/dry-run/dry-run.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { hold, type Target } from "../target.ts";
import { pretendedV4 } from "../pretended-v4.ts";

const pack = loadPack("mappings");
const { dialect, errors, statuses } = pack;
const STATUSES = [400, 401, 403, 404, 405, 409, 422, 429, 500, 502, 503, 302, 200];
const clientStatuses = new Set([200, ...statuses.all]);

let body = "";
let status = 400;
const pipeline = createDryRun(
  pack,
  pretendedV4(pack, ({ method, headers }) =>
    method === "POST"
      ? { status, headers: { ...headers, "retry-after": body }, bytes: Buffer.from(body), ms: 0 }
      : undefined,
  ),
);
await pipeline.catalogs.refresh();

export const target: Target = {
  name: "errors",
  subject: "v4's errors, translated",
  covers: [
    "/src/pack/errors/",
    "/src/pack/fields/error.ts",
    "/src/gateway/calls/translate-error.ts",
    "/src/gateway/pipeline/lifecycle.ts",
  ],
  longest: 20_000,
  seeds: [
    '400{"errors":[{"reason":"label is too short","field":"label"}]}',
    '400{"errors":[{"reason":"Invalid","field":"region"},{"reason":"No","field":"stackscript_data.x"}]}',
    '429{"errors":[{"reason":"Too many requests"}]}',
    "502<html><body>Bad gateway</body></html>",
    "503",
    '404{"errors":[{"reason":"Not found"}]}',
    '400{"errors":[{"reason":"x","field":"interfaces[0].ipv4.vpc"}]}',
    '200{"id":1,"label":"x"}',
  ],
  dictionary: [
    '{"errors":[',
    '{"reason":',
    '"field":',
    '"label"',
    '"region"',
    "null",
    "[0]",
    ".",
    '"__proto__":',
    ...STATUSES.map(String),
  ],
  async run(input) {
    const asked = /^\d{3}/.exec(input)?.[0];
    status = asked !== undefined && STATUSES.includes(Number(asked)) ? Number(asked) : 400;
    body = asked === undefined ? input : input.slice(3);
    const { response } = await pipeline.send({
      method: "POST",
      path: `${dialect.client.base_path}/dns/zones`,
      body: { dnszone: "example.org", type: "master", soa_email: "a@example.org" },
    });
    hold("the status is one of alpha's", clientStatuses.has(response.status));
    const error = JSON.parse(response.body) as Record<string, unknown>;
    if (response.status === 200) return;
    const details = errors.client.read(error)?.details ?? [];
    hold("an error has reasons", details.length > 0);
    hold(
      "an error has nothing else",
      isDeepStrictEqual(error, errors.client.write(details, response.status)),
    );
    for (const [name, value] of Object.entries(response.headers))
      hold(`${name} can be sent`, /^[\x20-\x7e]*$/.test(value));
  },
};
