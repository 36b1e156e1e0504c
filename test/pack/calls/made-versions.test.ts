/** The version that the pack makes of an object: the client's `If-Match` is compared with it, and the upstream gets its own. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const edit = (more: object = {}) => ({
  upstream: "PUT /items/{id}",
  body: "edit",
  calls: [{ name: "current", at: "before", upstream: "GET /items/{id}" }],
  if_match: "current",
  response: "none",
  ...more,
});

let gateway: SmallGateway;
startForTests(
  async () =>
    (gateway = await startSmallGateway({
      client: {
        headers: {
          request: { "If-Match": "If-Match" },
          response: { ETag: { read: "$string(revision)" } },
        },
      },
      book: {
        bodies: { edit: { schema: { type: "object", properties: { title: { type: "string" } } } } },
        routes: [
          { client: "PUT /books/:id", ...edit() },
          {
            client: "PUT /written/:id",
            ...edit({
              headers: { request: { "X-Version": { upstream: "If-Match", write: '"\\"own\\""' } } },
            }),
          },
        ],
      },
    })),
);

/** Changes a book, whose upstream object has a tag. Gives the status and the `If-Match` of each call. */
async function change(path: string, etag: string | undefined, headers: Record<string, string> = {}) {
  gateway.service.respondWith(
    json(200, { id: 7, revision: 2 }, etag === undefined ? {} : { etag }),
    json(200, {}),
  );
  const { status } = await gateway.send(`PUT ${path}/7`, { body: { title: "Waves" }, headers });
  return [status, ...gateway.service.calls.map((call) => [call.method, call.headers["if-match"]])];
}

test.each([
  ["a strong tag of the upstream is sent", '"r2"', '"r2"'],
  ["a weak tag never matches, and is not sent", 'W/"r2"', undefined],
  ["the upstream has no tag", undefined, undefined],
])("%s", async (_what, etag, sent) => {
  expect(await change("/books", etag)).toEqual([200, ["GET", undefined], ["PUT", sent]]);
});

test("the tag of the pack counts for the client", async () => {
  expect(await change("/books", '"r2"', { "if-match": '"2"' })).toEqual([
    200,
    ["GET", undefined],
    ["PUT", '"r2"'],
  ]);
  const [status, ...calls] = await change("/books", '"r2"', { "if-match": '"1"' });
  expect([status, calls]).toEqual([412, [["GET", undefined]]]);
});

test("an If-Match that the pack writes is sent in place of the upstream's tag", async () => {
  expect(await change("/written", '"r2"')).toEqual([200, ["GET", undefined], ["PUT", '"own"']]);
});
