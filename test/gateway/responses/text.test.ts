/** Responses that are a text, which an expression makes of the client's object or list. */
import { expect, test } from "@jest/globals";
import { packIn } from "../../support/packs.ts";
import { type TestSettings, RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { type SmallGateway, startSmallGateway } from "../../support/small-gateway.ts";
import { answer, differencesOf, rulesFor } from "../../compare/answers/answers.ts";

const text = (body: string) => ({ content_type: "text/plain; charset=utf-8", body });

async function start(client: object = {}, settings: TestSettings = {}): Promise<SmallGateway> {
  const gateway = await startSmallGateway(
    {
      client,
      book: {
        routes: [
          {
            client: "GET /books/:id.txt",
            upstream: "GET /items/{id}",
            calls: [{ name: "shop", upstream: "GET /shops/1" }],
            text: text('title & " " & $path.id & " " & $calls.shop.name'),
          },
          { client: "GET /numbers/:id", upstream: "GET /items/{id}", text: text("id") },
        ],
      },
    },
    settings,
  );
  gateway.service.respondWith(json(200, { id: 7, name: "Sea" }), json(200, { name: "East" }));
  return gateway;
}

test("has the media type of the route, and knows the request and its calls", async () => {
  const { send } = await start();
  const { status, headers, text: body } = await send("GET /books/7.txt");
  expect([status, headers.get("content-type"), body]).toEqual([
    200,
    "text/plain; charset=utf-8",
    "Sea 7 East",
  ]);
});

test("a text response is recorded as a text", async () => {
  const { send, readRecords, explainLast } = await start({}, RECORDING);
  await send("GET /books/7.txt");
  const [record] = await readRecords();
  expect(record?.alpha.response).toBe("Sea 7 East");
  expect(await explainLast()).toMatchObject({ answer: expect.any(Array) });
});

test("a text is not a function call for a client that requests JSONP", async () => {
  const { send } = await start({ callback: { parameter: "callback" } });
  const { headers, text: body } = await send("GET /books/7.txt?callback=show");
  expect([headers.get("content-type"), body]).toEqual(["text/plain; charset=utf-8", "Sea 7 East"]);
});

test("a text response is a failure if the expression gives no text", async () => {
  const { send } = await start();
  expect(await send("GET /numbers/7")).toMatchObject({ status: 500 });
});

test("a text response is compared as a whole", () => {
  const rules = rulesFor(packIn("examples/shipping/pack"), "GET /docks/list.csv");
  const csv = (rows: string) => answer(Buffer.from(`id,name\n${rows}`));
  expect(differencesOf(csv("1,North\n"), csv("1,North\n"), rules)).toEqual([]);
  expect(differencesOf(csv("1,North\n"), csv("1,South\n"), rules)).toEqual(["text value"]);
});
