/** `examples/payments`: a program of the old API, through the gateway, at the new service. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createPaymentsService } from "../../../examples/payments/service.ts";
import { RECORDING } from "../../support/gateway.ts";
import { startExample, type ExampleGateway } from "./example-gateway.ts";

const basic = (key: string): string => `Basic ${Buffer.from(`${key}:`).toString("base64")}`;

let gateway: ExampleGateway;
beforeEach(async () => {
  gateway = await startExample(
    "payments",
    createPaymentsService(),
    { authorization: basic("sk_demo") },
    RECORDING,
  );
});
afterEach(() => gateway.stop());

/** Posts a form, as clients of the old API do. */
const post = (path: string, form: Readonly<Record<string, string>>, headers: Record<string, string> = {}) =>
  gateway.send(`POST ${path}`, { raw: new URLSearchParams(form), headers });

const charge = (form: Readonly<Record<string, string>> = {}) =>
  post("/v1/charges", { amount: "1250", currency: "eur", ...form });

const ADA = { email: "ada@example.com", name: "Ada", "metadata[plan]": "gold" };

describe("a customer", () => {
  test("is created from a form, and has a prefixed id and a Unix time", async () => {
    const { status, body } = await post("/v1/customers", ADA);
    expect([status, body]).toEqual([
      200,
      {
        id: "cus_1",
        object: "customer",
        email: "ada@example.com",
        name: "Ada",
        phone: null,
        metadata: { plan: "gold" },
        created: 1767268801,
      },
    ]);
    expect((await gateway.send("GET /v1/customers/cus_1")).body).toEqual(body);
  });

  test("is created once by requests with the same idempotency key", async () => {
    const [first, second] = [
      await post("/v1/customers", ADA, { "idempotency-key": "k-1" }),
      await post("/v1/customers", ADA, { "idempotency-key": "k-1" }),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect((await gateway.send("GET /v1/customers")).body.data).toHaveLength(1);
  });

  test("keeps what a change does not name", async () => {
    await post("/v1/customers", ADA);
    const { status, body } = await post("/v1/customers/cus_1", { name: "Ada Lovelace" });
    expect([status, body]).toMatchObject([
      200,
      { id: "cus_1", name: "Ada Lovelace", email: "ada@example.com" },
    ]);
    expect(gateway.received.at(-1)).toBe("PATCH /api/customers/1");
  });

  test("is deleted, and the response says so", async () => {
    await post("/v1/customers", ADA);
    const { status, body } = await gateway.send("DELETE /v1/customers/cus_1");
    expect([status, body]).toEqual([200, { id: "cus_1", object: "customer", deleted: true }]);
    expect((await gateway.send("GET /v1/customers/cus_1")).status).toBe(404);
  });
});

describe("charges", () => {
  test("have cents, where the service has decimals", async () => {
    await post("/v1/customers", ADA);
    const { status, body } = await charge({ customer: "cus_1", description: "Order 17" });
    expect([status, body]).toEqual([
      200,
      {
        id: "ch_2",
        object: "charge",
        amount: 1250,
        currency: "eur",
        customer: "cus_1",
        status: "succeeded",
        refunded: false,
        description: "Order 17",
        created: 1767268802,
      },
    ]);
  });

  test("are paged with the id of the last one", async () => {
    for (let count = 0; count < 5; count += 1) await charge();
    const pages = [];
    for (let query = "?limit=2"; query !== "";) {
      const { body } = await gateway.send(`GET /v1/charges${query}`);
      pages.push(body.data.map(({ id }: { id: string }) => id));
      query = body.has_more ? `?limit=2&starting_after=${body.data.at(-1).id}` : "";
    }
    expect(pages).toEqual([["ch_1", "ch_2"], ["ch_3", "ch_4"], ["ch_5"]]);
  });

  test("are filtered by customer, status and time", async () => {
    await post("/v1/customers", ADA);
    await charge({ customer: "cus_1" });
    await charge();
    await charge({ customer: "cus_1" });
    await post("/v1/charges/ch_4/refund", {});
    const ids = async (query: string) =>
      (await gateway.send(`GET /v1/charges?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids("customer=cus_1")).toEqual(["ch_2", "ch_4"]);
    expect(await ids("customer=cus_1&status=succeeded")).toEqual(["ch_2"]);
    expect(await ids("created[gte]=1767268803")).toEqual(["ch_3", "ch_4"]);
    expect(await ids("created[gte]=1767268803&created[lte]=1767268803")).toEqual(["ch_3"]);
  });

  test("that are refunded are read again: one request becomes two", async () => {
    await charge();
    const { status, body } = await post("/v1/charges/ch_1/refund", {});
    expect([status, body]).toMatchObject([200, { id: "ch_1", refunded: true, status: "refunded" }]);
    expect(gateway.received.slice(-2)).toEqual(["POST /api/payments/1/refunds", "GET /api/payments/1"]);
  });
});

describe("errors", () => {
  test("of a member name the client's parameter", async () => {
    const { status, body } = await charge({ currency: "euro" });
    expect([status, body]).toEqual([
      400,
      {
        error: {
          code: "currency_invalid",
          message: "currency is a code such as EUR",
          param: "currency",
        },
      },
    ]);
  });

  test("of the whole request have no parameter", async () => {
    const { status, body } = await charge({ amount: "600000" });
    expect([status, body]).toEqual([
      402,
      { error: { code: "card_declined", message: "The bank declined the payment." } },
    ]);
  });

  test("with a code that decides the status have the client's status", async () => {
    await charge();
    await post("/v1/charges/ch_1/refund", {});
    const { status, headers, body } = await post("/v1/charges/ch_1/refund", {});
    expect([status, body]).toEqual([
      400,
      { error: { code: "charge_already_refunded", message: "The payment is refunded." } },
    ]);
    expect(headers.get("content-type")).toContain("application/json");
  });

  test("of the gateway itself have a code too", async () => {
    const { status, body } = await gateway.send("GET /v1/customers?colour=red");
    expect([status, body]).toMatchObject([400, { error: { code: "parameter_invalid" } }]);
  });

  test("of a wrong key are a 401, and the audit has no key", async () => {
    const { status, body } = await gateway.send("GET /v1/customers", {
      headers: { authorization: basic("sk_other") },
    });
    expect([status, body]).toEqual([
      401,
      { error: { code: "invalid_api_key", message: "The API key is not valid." } },
    ]);
    const records = JSON.stringify(await gateway.readAudit());
    expect(records).not.toMatch(/sk_other|c2tfb3RoZXI/);
  });
});
