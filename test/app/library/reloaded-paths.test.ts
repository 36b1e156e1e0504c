/** What a reload of the pack changes for an application that `alphaGateway` is mounted in. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import express from "express";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { alphaGateway, type AlphaGateway } from "../../../src/index.ts";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { request } from "../../support/request.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

let pack: ReturnType<typeof writeSmallPack>;
let service: FakeV4;
let gateway: AlphaGateway;
const application = express();

beforeEach(async () => {
  pack = writeSmallPack({ client: { base_path: "/old" } });
  service = await startFakeV4();
  service.respondWith(json(200, { id: 7, name: "Emma" }));
  gateway = alphaGateway({
    upstream: service.url,
    mappings: pack,
    dataDir: join(pack, "data"),
    logLevel: "silent",
    audit: "off",
  });
  application.use((...call) => gateway(...call));
  application.use((_request, response) => void response.status(418).send("application"));
});
afterEach(async () => {
  await gateway.close();
});

test("another base path counts after a reload, and the former one is the application's", async () => {
  const statusOf = async (path: string) => (await request(application, `GET ${path}`)).status;
  expect([await statusOf("/old/books/7"), await statusOf("/new/books/7")]).toEqual([200, 418]);
  const file = join(pack, "pack.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("/old", "/new"));
  await gateway.reload();
  expect([await statusOf("/old/books/7"), await statusOf("/new/books/7")]).toEqual([418, 200]);
});
