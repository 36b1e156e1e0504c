/** Invalid bodies of the maximum size: few faults are reported, in a small response, with little work. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { isObject } from "../../../src/base/json/parse.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import type { JsonObject } from "../../../src/pack/translation-context.ts";
import { compileSetter } from "../../../src/pack/values/member-paths.ts";
import { RECORDING } from "../../support/gateway.ts";
import {
  startListeningGatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { acceptGoodTokens } from "../../support/fake-v4.ts";

const MB = 1_048_576;
/** Of a list, or of the whole error body. */
const MOST = { faults: 100, bytes: 131_072 };

/** As many of a text as fit. */
const filled = (before: string, each: string, after: string): string =>
  before + Array.from({ length: Math.floor((MB - 200) / (each.length + 1)) }, () => each).join(",") + after;

const keys = (count: number, value: string): string =>
  Array.from({ length: count }, (_, n) => `"k${n}":${value}`).join(",");

describe("one large request with an unknown token has a bounded cost", () => {
  let gateway: ListeningGatewayWithFakeV4;
  beforeAll(async () => {
    gateway = await startListeningGatewayWithFakeV4(RECORDING);
    gateway.v4.respondWith(acceptGoodTokens);
  });

  test.each([
    [
      "350 000 empty assignments",
      "POST /networking/ip-assign",
      filled('{"datacenter":"newark","assignments":[', "{}", "]}"),
    ],
    [
      "5 001 of them",
      "POST /networking/ip-assign",
      `{"datacenter":"newark","assignments":[{}${",{}".repeat(5000)}]}`,
    ],
    [
      "1 MB of wrong SSH keys",
      "POST /vm/instances",
      filled('{"datacenter":"newark","type":"x","root_ssh_key":[', "1", "]}"),
    ],
    ["4 999 of them", "POST /vm/instances", `{"type":"x","root_ssh_key":[1${",1".repeat(4998)}]}`],
    ["70 000 keys in disks", "POST /vm/instances/7/configs", `{"disks":{${keys(70_000, "1")}}}`],
    ["20 000 keys in disks", "POST /vm/instances/7/configs", `{"disks":{${keys(20_000, "{}")}}}`],
    ["one key of 1 MB", "POST /vm/instances/7/configs", `{"disks":{"${"k".repeat(MB - 100)}":1}}`],
    [
      "900 keys of 1 kB",
      "POST /vm/instances/7/configs",
      `{"disks":{${keys(900, "1").replaceAll("k", "k".repeat(1000))}}}`,
    ],
  ])("%s", async (_what, call, text) => {
    expect(text.length).toBeLessThan(MB);
    const response = await gateway.request(call, { as: "made-up", raw: text });
    expect(response.status).toBe(400);
    expect(response.body.errors.length).toBeLessThanOrEqual(MOST.faults);
    expect(response.text.length).toBeLessThan(MOST.bytes);
    expect(gateway.v4.calls).toEqual([]);
  });
});

describe("a form of OAuth has at most 100 members, and is not parsed if it has more", () => {
  let gateway: ListeningGatewayWithFakeV4;
  beforeAll(async () => {
    gateway = await startListeningGatewayWithFakeV4(RECORDING);
  });

  const part = (name: string): string => `--x\r\nContent-Disposition: form-data; name=${name}\r\n\r\nb\r\n`;
  test.each([
    [
      "application/x-www-form-urlencoded",
      (count: number) => Array.from({ length: count }, (_, n) => `k${n}=b`).join("&"),
    ],
    [
      "multipart/form-data; boundary=x",
      (count: number) => `${Array.from({ length: count }, (_, n) => part(`k${n}`)).join("")}--x--\r\n`,
    ],
  ])("%s", async (type, write) => {
    const send = async (count: number): Promise<string> => {
      const headers = { "content-type": type };
      const response = await fetch(`${gateway.url}/oauth/token`, {
        method: "POST",
        headers,
        body: write(count),
      });
      expect(response.status).toBe(400);
      return response.text();
    };
    expect(await send(20)).toContain("client_id is required.");
    expect(await send(1010)).toContain("The form has too many members.");
    const { alpha } = await gateway.readLastRecord();
    expect([alpha.status, alpha.body]).toEqual([400, undefined]);
  });
});

test("the parts of a body that no rule changes are not copied", () => {
  const wide = Object.fromEntries(Array.from({ length: 19_500 }, (_, n) => [`k${n}`, 1]));
  const [, zone] = bodies.find(([route]) => route === "PUT /dns/zones/:id") ?? [];
  const { body } = zone?.normalise({ description: wide }) ?? {};
  expect(body?.["description"]).toBe(wide);
});

type Schema = Readonly<Record<string, unknown>>;

/** Dotted names of all members, those in lists under the name of their list. */
function names(schema: Schema, path: readonly string[] = []): string[] {
  const { properties } = schema;
  const ownName = path.length > 0 ? [path.join(".")] : [];
  if (!isObject(properties)) return ownName;
  return [
    ...ownName,
    ...Object.entries(properties).flatMap(([name, member]) => names(member as Schema, [...path, name])),
  ];
}

const bodies = loadPack("mappings").routes.flatMap(({ name, body }) => (body ? [[name, body] as const] : []));

const WRONG: readonly (readonly [string, unknown])[] = [
  ["a list of objects", Array.from({ length: 6000 }, () => ({}))],
  ["a list of lists", Array.from({ length: 4999 }, () => [[]])],
  [
    "a list of objects of the same",
    Array.from({ length: 4999 }, () => ({ id: "x", all: 1, address: 1, vm: [] })),
  ],
  ["an object of many members", Object.fromEntries(Array.from({ length: 6000 }, (_, n) => [`k${n}`, 1]))],
  ["a long text", "a-".repeat(MB / 2 - 100)],
  ["a long text of digits", "1".repeat(MB - 100)],
];

test.each(bodies)("%s gets a bounded number of errors for any body", (_route, body) => {
  for (const name of names(body.schema)) {
    for (const [what, value] of WRONG) {
      const sent: JsonObject = {};
      compileSetter(name)(sent, value);
      const normal = body.normalise(sent);
      const faults = [...normal.faults, ...body.check(normal.body)];
      expect([name, what, faults.length <= MOST.faults]).toEqual([name, what, true]);
      expect(JSON.stringify(faults).length).toBeLessThan(MOST.bytes);
    }
  }
});

test("every string, list and open object of a body schema has a limit", () => {
  const endless = new Set<string>();
  for (const [route, body] of bodies) {
    for (const name of names(body.schema)) {
      for (const value of ["x".repeat(66_000), Array.from({ length: 5001 }, () => 1)]) {
        const sent: JsonObject = {};
        compileSetter(name)(sent, value);
        const normal = body.normalise(sent);
        const faults = [...normal.faults, ...body.check(normal.body)];
        if (!faults.some(({ field = "" }) => field.startsWith(name))) endless.add(`${route}: ${name}`);
      }
    }
  }
  expect([...endless]).toEqual([]);
});
