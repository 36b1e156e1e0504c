/** Tokens in lists show the levels that they were requested with, whatever shape the client's lists have. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { valueAt } from "../../../src/pack/values/shape.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { copyPack, type PackCopy } from "../../support/pack-copy.ts";

let gateway: Gateway | undefined;
let folder: string | undefined;
let pack: PackCopy | undefined;
afterEach(async () => {
  await gateway?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  gateway = folder = pack = undefined;
});

const SHAPE = "list: { $list: $items, page: $page, total_pages: $pages, total_results: $total }";

/** Starts a gateway whose pack has a text replaced. */
async function start(file: string, from: string, to: string): Promise<Gateway> {
  pack = copyPack();
  const text = await readFile(join(pack.folder, file), "utf8");
  expect(text).toContain(from);
  pack.write(
    file,
    text.replace(from, () => to),
  );
  folder = await mkdtemp(join(tmpdir(), "listed-"));
  gateway = await startGateway({ DATA_DIR: folder, MAPPINGS_DIR: pack.folder });
  return gateway;
}

describe("levels of listed tokens are those that were requested", () => {
  test.each([
    ["with a fixed key", "{ data: $items, page: $page }", ["data"]],
    ["with nested keys", "{ result: { $list: $items }, page: $page }", ["result", "tokens"]],
    ["without keys", "$items", []],
  ])("%s", async (_shape, shape, path) => {
    const { request } = await start("pack.yaml", SHAPE, `list: ${shape}`);
    const { body: created } = await request("POST /account/tokens", {
      body: { label: "cli", scopes: "vms:modify" },
    });
    const { body } = await request("GET /account/tokens");
    const rows = valueAt(body, path) as { readonly id: number }[];
    expect(rows.find(({ id }) => id === created.id)).toMatchObject({ scopes: "vms:modify" });
  });

  test("inside of the wrappers of items", async () => {
    const item = "item: { token: $object }";
    const { request } = await start("pack.yaml", SHAPE, `list: $items\n    ${item}`);
    const { body: created } = await request("POST /account/tokens", {
      body: { label: "cli", scopes: "vms:modify" },
    });
    const { body } = await request("GET /account/tokens");
    const rows = body as { readonly token: { readonly id: number } }[];
    expect(rows.find(({ token }) => token.id === created.id)?.token).toMatchObject({ scopes: "vms:modify" });
  });

  test("or the pack is rejected, where the gateway does not search the response", async () => {
    const from = "tokens: &levels { token: token, scopes: scopes }";
    await expect(start("token.yaml", from, `${from}\n    aggregate: { max_items: 10 }`)).rejects.toThrow(
      '"tokens" excludes "aggregate"',
    );
  });

  test("or the pack is rejected, where a route could not find the token that it deletes", async () => {
    const from =
      "    read_route: GET /account/tokens/:id\n    tokens: { token: token, scopes: scopes, deleted: true }";
    const [, without = ""] = from.split("\n");
    await expect(start("token.yaml", from, without)).rejects.toThrow('"deleted" needs');
  });
});
