/** The check that all tests with two services make when their old service closes can fail. */
import { expect, test } from "@jest/globals";
import { OldService } from "../../../src/compare/live/ask-old-service.ts";
import { startOldService } from "../../support/old-service.ts";
import { askedRequest, sides } from "./asked-request.ts";

/** Starts an old service, asks it as a comparison does, and closes it. */
async function ask(method: string, path: string): Promise<readonly string[]> {
  const old = await startOldService({ safePosts: ["/search"] });
  const service = new OldService({ url: new URL(old.url) }, { sides });
  const body = method === "POST" ? Buffer.from("{}") : undefined;
  await service.ask(askedRequest({ method, path }, body));
  await service.close();
  await old.close();
  return old.compared;
}

test.each([
  ["GET", "/things"],
  ["HEAD", "/things"],
  ["POST", "/search"],
])("a comparison may send %s %s", async (method, path) => {
  expect(await ask(method, path)).toEqual([`${method} ${path}`]);
});

test.each([
  ["POST", "/things"],
  ["PUT", "/things/1"],
  ["DELETE", "/things/1"],
])("a comparison that has sent %s %s fails its test", async (method, path) => {
  await expect(ask(method, path)).rejects.toThrow(`comparisons have sent writes: ${method} ${path}`);
});

test("a write of a client is none of a comparison", async () => {
  const old = await startOldService();
  await fetch(`${old.url}/things`, { method: "POST", body: "{}" });
  await old.close();
  expect(old.compared).toEqual([]);
});
