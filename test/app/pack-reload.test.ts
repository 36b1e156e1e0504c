/** Another pack while requests are served, in one process: checking and compiling it delays no request. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { json, startFakeV4, type FakeV4 } from "../support/fake-v4.ts";
import { openGateway, type TestGateway } from "../support/gateway.ts";
import { request } from "../support/request.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { writeSmallPack } from "../support/small-pack.ts";

let pack: ReturnType<typeof writeSmallPack>;
let service: FakeV4;
let gateway: TestGateway;
beforeEach(async () => {
  pack = writeSmallPack({});
  service = await startFakeV4();
  service.respondWith(json(200, { id: 7, name: "Emma" }));
  gateway = await openGateway({ UPSTREAM_URL: service.url, MAPPINGS_DIR: pack });
});

const readBook = async (): Promise<unknown> => (await request(gateway.app, "GET /books/7")).body;
const succeeded = async (): Promise<string | undefined> => {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return /^alpha_gateway_pack_last_reload_successful (.+)$/m.exec(text)?.[1];
};
const rename = (name: string): void => {
  const file = join(pack, "book.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^ {2}\w+: name$/m, `  ${name}: name`));
};
const lines = (line: (index: number) => string): string =>
  Array.from({ length: 2000 }, (_, index) => line(index)).join("");

describe("pack reload", () => {
  test.each([
    ["with 2000 unknown references", lines((n) => `  f${n}: { upstream: a, values: kind${n} }\n`)],
    ["with 2000 invalid fields", lines((n) => `  f${n}: 7\n`)],
    ["that can't be parsed", lines((n) => `  f${n}: @\n`)],
    ["with 2000 valid fields", lines((n) => `  f${n}: { upstream: a${n}, read: "$value + ${n}" }\n`)],
  ])("responds to requests while it checks a pack %s", async (_name, fields) => {
    writeFileSync(join(pack, "other.yaml"), `object: other\nfields:\n${fields}`);
    let isReloaded = false;
    const reload = gateway.reload().then(() => (isReloaded = true));
    for (let count = 0; count < 3; count += 1) expect(await readBook()).toEqual({ id: 7, title: "Emma" });
    expect(isReloaded).toBe(false);
    await reload;
    expect(await readBook()).toEqual({ id: 7, title: "Emma" });
  });

  test("keeps the active pack, and sets the metric to 0, if the new one is invalid", async () => {
    writeFileSync(join(pack, "other.yaml"), "object: 7\n");
    await gateway.reload();
    expect(await succeeded()).toBe("0");
    expect(await readBook()).toEqual({ id: 7, title: "Emma" });
    writeFileSync(join(pack, "other.yaml"), "object: other\nfields: {}\n");
    await gateway.reload();
    expect(await succeeded()).toBe("1");
  });

  test("ends the check of a pack that another one replaces", async () => {
    rename("heading");
    const first = gateway.reload();
    rename("caption");
    await Promise.all([first, gateway.reload()]);
    expect(await readBook()).toEqual({ id: 7, caption: "Emma" });
    expect(await succeeded()).toBe("1");
  });

  test.each([
    [
      "other scopes",
      [
        "upstream: {}\n",
        "upstream: {}\nscopes: { levels: [look], all: all, resources: { book: items }, upstream_levels: { look: read }, client_levels: { read: look } }\n",
      ],
    ],
    [
      "a token that no setting has",
      ["upstream: {}", "upstream: { credentials: { scheme: Bearer, token: setting } }"],
    ],
    [
      "an absolute address whose host no setting has",
      ["client: {}", "client: { headers: { response: { Location: { read: '\"/a\"', links: absolute } } } }"],
    ],
  ] as const)("rejects a pack with %s, which needs a restart", async (_what, [from, to]) => {
    const file = join(pack, "pack.yaml");
    const text = readFileSync(file, "utf8");
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
    expect(() => loadPack(pack)).not.toThrow();
    await gateway.reload();
    expect([await succeeded(), await readBook()]).toEqual(["0", { id: 7, title: "Emma" }]);
  });

  test("uses changed errors for the next request", async () => {
    service.respondWith(json(404, { message: "gone" }));
    expect((await request(gateway.app, "GET /books/7")).status).toBe(404);
    const file = join(pack, "pack.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}errors: { statuses: { 404: 410 } }\n`);
    await gateway.reload();
    expect((await request(gateway.app, "GET /books/7")).status).toBe(410);
    expect(await succeeded()).toBe("1");
  });
});
