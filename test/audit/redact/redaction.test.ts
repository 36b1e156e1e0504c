/** Secrets in any part of a request or response never appear in the audit store, nor in the data for a collector. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { packIn } from "../../support/packs.ts";
import { RECORDING } from "../../support/gateway.ts";
import { readSegments } from "../../support/audit-records.ts";
import {
  startGatewayWithFakeV4,
  waitFor,
  type GatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { json, plain } from "../../support/fake-v4.ts";
import { startOtlpCollector, type OtlpCollector } from "../../support/otlp-collector.ts";

const PLANTED = "s3cr3t";
const names = packIn("mappings")
  .secretNames.filter((name) => !name.startsWith("!") && !name.endsWith("[]"))
  .map((name) => name.replaceAll("*", "").replaceAll(/^_|_$/g, ""));

let folder: string;
let gateway: GatewayWithFakeV4;
let collector: OtlpCollector;

beforeEach(async () => {
  folder = temporaryFolder();
  collector = await startOtlpCollector();
  gateway = await startGatewayWithFakeV4({
    ...RECORDING,
    AUDIT_OTLP: collector.url,
    DATA_DIR: folder,
    RATE_LIMIT: "1000000/1",
    RATE_LIMIT_CREATE: "1000000/1",
  });
});

const wide = (text: string): string =>
  text.replaceAll(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));

const CYRILLIC: Readonly<Record<string, string>> = { a: "а", c: "с", e: "е", o: "о", p: "р", s: "ѕ" };

/** A secret's name as clients spell it. */
const spelling = fc
  .tuple(
    fc.constantFrom(...names),
    fc.constantFrom<(name: string) => string>(
      (name) => name,
      (name) => name.toUpperCase(),
      (name) => name.replaceAll("_", "-"),
      (name) => name.replaceAll("_", ""),
      (name) => name.replaceAll("_", " "),
      (name) => `${name[0]}\u200b${name.slice(1)}`,
      wide,
      (name) => name.replaceAll(/[aceops]/g, (letter) => CYRILLIC[letter] ?? letter),
    ),
  )
  .map(([name, spell]) => spell(name));

const secret = fc
  .tuple(fc.stringMatching(/^[a-z0-9]{4}$/), fc.constantFrom("", '"', "&x=", " ", "}", "\\", "é"))
  .map(([digits, awkward]) => `${PLANTED}${awkward}${PLANTED}${digits}`);

type Wrap = (value: unknown) => unknown;
const wrap: fc.Arbitrary<Wrap> = fc.constantFrom<Wrap>(
  (value) => ({ label: "web", config: value }),
  (value) => [1, value],
  (value) => ({ data: JSON.stringify(value) }),
  (value) => ({ user_data: [value, null] }),
);

/** A text of UTF-8 as a head takes it, byte by byte. */
const utf8 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("latin1");

/** An object with a secret in it, nested in objects, lists and JSON texts. */
const nested = fc
  .tuple(
    spelling,
    secret,
    fc.array(wrap, { maxLength: 4 }),
    fc.constantFrom<(name: string, value: string) => object>(
      (name, value) => ({ [name]: value }),
      (name, value) => ({ [name]: [value, { deep: value }] }),
      (name, value) => ({ key: name, value }),
      (name, value) => ({ tokens: [{ id: 1 }, value], name }),
    ),
  )
  .map(([name, value, wraps, hold]) => {
    const holder: unknown = hold(name, value);
    return wraps.reduce((inner, around) => around(inner), holder) as object;
  });

const TOKEN = `token-${PLANTED}`;
const pair = ([name, value]: readonly [string, string]) =>
  `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;

/** JSON in ASCII, as headers take it. */
const ascii = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** A request of a client, and v4's response. */
const exchange = fc.record({
  body: nested,
  filter: nested,
  response: nested,
  status: fc.constantFrom(200, 400, 404, 500),
  named: fc.tuple(spelling, secret),
  form: fc.constantFrom(
    "json",
    "cut",
    "urlencoded",
    "multipart",
    "unquoted",
    "utf-16",
    "text",
    "table",
    "extended",
  ),
  credentials: fc.constantFrom("Basic ", "", "token other-token, ", "token a "),
  raw: fc.boolean(),
  /** Where v4 says the secret again, in words. */
  echo: fc.constantFrom("reason", "field", "label", "html"),
});

type Exchange = typeof exchange extends fc.Arbitrary<infer T> ? T : never;

function bodyOf({ body, named, form }: Exchange): { text: string | Uint8Array<ArrayBuffer>; type: string } {
  const [name, value] = named;
  const whole = JSON.stringify({ [name]: value, home: `https://me:${value}@example.net/`, body });
  const part = `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`;
  const forms = {
    json: { text: whole, type: "application/json" },
    cut: { text: whole.slice(0, -1), type: "application/json" },
    urlencoded: { text: `label=x&${pair(named)}&y=1`, type: "application/x-www-form-urlencoded" },
    multipart: { text: part, type: "multipart/form-data; boundary=b" },
    unquoted: { text: part.replaceAll(`"${name}"`, name), type: "multipart/form-data; boundary=b" },
    "utf-16": { text: Buffer.from(whole, "utf16le"), type: "application/json" },
    text: { text: `${name}: ${value}`, type: "text/plain" },
    table: { text: `label\tweb\n${name}\t${value}`, type: "text/plain" },
    extended: { text: `name*=utf-8''${encodeURIComponent(name)}\r\n\r\n${value}`, type: "text/plain" },
  };
  return forms[form];
}

/** v4 repeats the secrets without a name that identifies them. */
function echoes({ echo, named: [, value], response }: Exchange): object {
  const spelt = `"${value}" (${encodeURIComponent(value)}) of ${TOKEN} ${JSON.stringify({ note: value })}`;
  if (echo === "reason") return { ...response, errors: [{ reason: `No: ${spelt}` }] };
  if (echo === "field") return { errors: [{ reason: spelt, field: value }], [value]: 1 };
  return { data: [{ id: 1, label: spelt }], page: 1, pages: 1, results: 1, id: 1, label: spelt };
}

async function run(planted: Exchange): Promise<void> {
  const { named, status, filter, echo, credentials } = planted;
  const [name, value] = named;
  const said = echoes(planted);
  gateway.v4.respondWith(
    status === 500 || echo === "html"
      ? plain(status, `<p>The ${name}: ${value}</p><p>${JSON.stringify(said)}`)
      : json(status, said),
  );
  const { text, type } = bodyOf(planted);
  const headers = { "content-type": type, "user-agent": "client" };
  for (const as of [TOKEN, null]) await gateway.request("POST /vm/instances", { as, raw: text, headers });
  const agent = {
    "user-agent": `client (${pair(named)}) ${encodeURIComponent(value)}`,
    "x-request-id": TOKEN,
  };
  await gateway.request(`GET /vm/instances?page=1&${pair(named)}`, {
    as: TOKEN,
    filter: planted.raw ? utf8(filter) : ascii(filter),
    headers: agent,
  });
  await gateway.request(`GET /vm/instances/${pair(named)}`, { as: TOKEN });
  const query = new URLSearchParams({ [name]: value }).toString();
  await gateway.request(`GET /account/users/${encodeURIComponent(value)}?${query}`, { as: TOKEN });
  const encoded = encodeURIComponent(value);
  await gateway.request(`GET /vm/nothing/${encodeURIComponent(name)}/${encoded}`, { as: TOKEN });
  await gateway.request(`GET /vm/nothing/https://me:${encoded}@host/`, { as: TOKEN });
  const refused = { authorization: `${credentials}${TOKEN}` };
  await gateway.request(`GET /vm/instances?label=${TOKEN}`, { as: null, headers: refused });
  const native = { authorization: `Bearer ${TOKEN}` };
  await gateway.request(`GET /vm/instances/${TOKEN}?${pair(named)}`, { as: null, headers: native });
}

test("R-15 R-16 no secret planted in requests, responses and errors is stored, or sent to a collector", async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(exchange, async (planted) => {
      await run(planted);
      runs += 1;
    }),
    { numRuns: 40 },
  );
  const count = async (): Promise<number> => {
    const { headers } = await gateway.requestAdmin("GET /api/audit/export?format=ndjson");
    return Number(headers.get("x-total-count"));
  };
  await waitFor(async () => (await count()) === runs * 9);

  for (const format of ["ndjson", "csv", "har"])
    expect(around((await gateway.requestAdmin(`GET /api/audit/export?format=${format}`)).text)).toBe("");
  const files = (await readdir(folder)).filter((name) => name.startsWith("audit"));
  expect(files).toContain("audit.db");
  for (const file of files) expect(around((await readFile(join(folder, file))).toString("latin1"))).toBe("");
  const segments = readSegments(folder);
  expect(segments.split("\n").length).toBeGreaterThan(runs * 9);
  expect(around(segments)).toBe("");
  const received = (): number =>
    collector.logs().filter(({ eventName }) => eventName === "alpha_gateway.request").length;
  await waitFor(() => received() === runs * 9);
  expect(around(collector.bytes().toString())).toBe("");
}, 120_000);

/** The text around a secret; empty if there is none. */
function around(text: string): string {
  const at = text.indexOf(PLANTED);
  return at === -1 ? "" : text.slice(Math.max(0, at - 300), at + 50);
}
