/** Calls after the main call whose failure is an error of the client. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

const packOf = (call: object) => ({
  book: { routes: [{ client: "POST /books", upstream: "POST /items", calls: [call] }] },
});

async function send(call: object, status: number, object: object) {
  const gateway = await startSmallGateway(packOf(call));
  gateway.service.respondWith(json(201, { id: 7 }), json(status, object));
  const response = await gateway.send("POST /books");
  return [response.status, response.body.id];
}

describe("an answer that is not optional needs no fallback", () => {
  const ANSWER = { upstream: "GET /items/{response.id}", answer: true, optional: false };

  test("its failure is the client's error", async () => {
    expect(faultsOfSmallPack(packOf(ANSWER))).toEqual([]);
    expect(await send(ANSWER, 404, { message: "Gone." })).toEqual([404, undefined]);
  });

  test("its success is the response", async () => {
    expect(await send(ANSWER, 200, { id: 8 })).toEqual([200, 8]);
  });
});

describe("an operation that has failed is an error, if `failed` says so", () => {
  const POLL = {
    upstream: "GET /jobs/{response.id}",
    repeat: {
      until: 'state = "done"',
      failed: { when: 'state = "bad"', status: 409 },
      interval_ms: 5,
      timeout_ms: 100,
    },
  };

  test("also without `optional: false`", async () => {
    expect(await send(POLL, 200, { state: "bad", message: "No." })).toEqual([409, undefined]);
  });

  test("unless the call is optional", async () => {
    expect(await send({ ...POLL, optional: true }, 200, { state: "bad" })).toEqual([200, 7]);
  });
});

describe("`fallback` reads the error of the upstream", () => {
  const ANSWER = {
    upstream: "GET /items/{response.id}",
    answer: true,
    fallback: '{ "id": $failure.status & ":" & $failure.body.last }',
  };

  test("its status and its body", async () => {
    expect(await send(ANSWER, 410, { last: 12 })).toEqual([200, "410:12"]);
  });

  test("without a response there is none", async () => {
    expect(await send({ ...ANSWER, upstream: "GET /items/{response.none}" }, 200, {})).toEqual([200, ":"]);
  });
});
