/** Calls before the main call of a route that responds with a file. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

const packOf = (call: object) => ({
  book: {
    routes: [
      {
        client: "GET /books/:id/cover",
        upstream: "GET /covers/{item.uuid}",
        response: "file",
        file: { content_type: "image/png" },
        calls: [{ name: "item", upstream: "GET /search/{id}", ...call }],
      },
    ],
  },
});

const BEFORE = { at: "before", checks: [{ message: '$response.hidden ? "It is hidden."' }] };

async function send(item: object) {
  const gateway = await startSmallGateway(packOf(BEFORE));
  gateway.service.respondWith(json(200, item), (_call, response) =>
    response.setHeader("content-type", "image/png").end("PNG"),
  );
  const { status, headers } = await gateway.send("GET /books/7/cover");
  return [status, headers.get("content-type"), gateway.service.calls.map(({ path }) => path)];
}

test("a file is found by the value of a call", async () => {
  expect(await send({ uuid: "u" })).toEqual([200, "image/png", ["/search/7", "/covers/u"]]);
});

test("an error of a check sends no call for the file", async () => {
  const [status, , paths] = await send({ uuid: "u", hidden: true });
  expect([status, paths]).toEqual([400, ["/search/7"]]);
});

test("check reports a call after it", () => {
  expect(faultsOfSmallPack(packOf({})).join()).toContain(
    "the response of this route is a file: all its calls are before the main call",
  );
});
