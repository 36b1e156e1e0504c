/**
 * Examples with a service: what a program of the old API does in several requests, through the gateway, at the new service.
 * Their golden cases show what becomes of a single one.
 */
import type { Server } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createFestivalService } from "../../../examples/cursors/service.ts";
import { createBlogService } from "../../../examples/json-api/service.ts";
import { createTrackerService } from "../../../examples/media-type-versions/service.ts";
import { createPaymentsService } from "../../../examples/payments/service.ts";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";
import { startExample, type ExampleGateway } from "./example-gateway.ts";

let gateway: ExampleGateway;
afterEach(() => gateway.stop());

/** Starts an example before each test. @param headers Those of all requests of the client */
const beforeEachStart = (
  name: string,
  createService: () => Server,
  headers: Record<string, string>,
  settings: TestSettings = RECORDING,
): void =>
  beforeEach(async () => {
    gateway = await startExample(name, createService(), headers, settings);
  });

const get = async (path: string) => (await gateway.send(`GET ${path}`)).body;

describe("a customer of examples/payments", () => {
  const basic = (key: string): string => `Basic ${Buffer.from(`${key}:`).toString("base64")}`;
  beforeEachStart("payments", createPaymentsService, { authorization: basic("sk_demo") });

  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    gateway.send(`POST ${path}`, { raw: new URLSearchParams(form), headers });
  const charge = (form: Record<string, string> = {}) =>
    post("/v1/charges", { amount: "1250", currency: "eur", ...form });

  test("is created once by requests with the same idempotency key, and stays until it is deleted", async () => {
    const create = () =>
      post("/v1/customers", { email: "ada@example.com", name: "Ada" }, { "idempotency-key": "k-1" });
    const [first, second] = [await create(), await create()];
    expect(first.body).toMatchObject({ id: "cus_1", object: "customer", created: 1767268801 });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const changed = await post("/v1/customers/cus_1", { name: "Ada Lovelace" });
    expect(changed.body).toEqual({ ...first.body, name: "Ada Lovelace" });
    expect((await get("/v1/customers")).data).toEqual([changed.body]);
    await gateway.send("DELETE /v1/customers/cus_1");
    expect((await gateway.send("GET /v1/customers/cus_1")).status).toBe(404);
  });

  test("follows the pages of charges by the id of the last one, and refunds one once", async () => {
    for (let count = 0; count < 5; count += 1) await charge();
    const pages = [];
    for (let query = "?limit=2"; query !== "";) {
      const body = await get(`/v1/charges${query}`);
      pages.push(body.data.map(({ id }: { id: string }) => id));
      query = body.has_more ? `?limit=2&starting_after=${body.data.at(-1).id}` : "";
    }
    expect(pages).toEqual([["ch_1", "ch_2"], ["ch_3", "ch_4"], ["ch_5"]]);
    const refund = () => post("/v1/charges/ch_1/refund", {});
    expect((await refund()).body).toMatchObject({ id: "ch_1", refunded: true, status: "refunded" });
    expect((await refund()).body.error.code).toBe("charge_already_refunded");
  });

  test("gets errors of the service and of the gateway with codes, and no key is in the audit", async () => {
    const declined = await charge({ amount: "600000" });
    expect([declined.status, declined.body]).toEqual([
      402,
      { error: { code: "card_declined", message: "The bank declined the payment." } },
    ]);
    expect((await get("/v1/customers?colour=red")).error.code).toBe("parameter_invalid");
    const { status, body } = await gateway.send("GET /v1/customers", {
      headers: { authorization: basic("sk_other") },
    });
    expect([status, body.error.code]).toEqual([401, "invalid_api_key"]);
    expect(JSON.stringify(await gateway.readAudit())).not.toMatch(/sk_other|c2tfb3RoZXI/);
  });
});

describe("a task of examples/media-type-versions", () => {
  const TYPE = "application/vnd.tracker.v1+json";
  beforeEachStart("media-type-versions", createTrackerService, { accept: TYPE });

  const send = (call: string, task?: object, headers: Record<string, string> = {}, key = "demo-token") =>
    gateway.send(`${call}?api_key=${key}`, {
      headers: { ...(task && { "content-type": TYPE }), ...headers },
      ...(task && { raw: JSON.stringify({ task }) }),
    });

  test("is read again only if it has changed, and changed only if it is the one that was read", async () => {
    const task = { subject: "Paint", remarks: [{ by: "bob", text: "Which colour?" }] };
    expect((await send("POST /projects/7/tasks", task)).status).toBe(201);
    const { headers, body } = await send("GET /tasks/1");
    expect(body.task.remarks).toEqual(task.remarks);
    const tag = headers.get("etag") ?? "";
    const again = await send("GET /tasks/1", undefined, { "if-none-match": tag });
    expect([again.status, again.text]).toEqual([304, ""]);
    const first = await send("PUT /tasks/1", { ...body.task, status: "done" }, { "if-match": tag });
    expect([first.status, first.body]).toEqual([200, { task: { ...body.task, status: "done" } }]);
    const second = await send("PUT /tasks/1", { ...body.task, status: "active" }, { "if-match": tag });
    expect([second.status, second.body.code]).toEqual([412, "edit_conflict"]);
    const third = await send("PUT /tasks/1", { status: "active" });
    expect([third.status, third.body.code]).toEqual([428, "if_match_required"]);
    expect((await send("DELETE /tasks/1")).status).toBe(204);
    expect((await send("GET /tasks/1")).status).toBe(404);
  });

  test("of a wrong key is a 401, and the audit has no key", async () => {
    const { status, body } = await send("GET /tasks/1", undefined, {}, "other-token");
    expect([status, body.code]).toEqual([401, "invalid_key"]);
    expect(JSON.stringify(await gateway.readAudit())).not.toContain("other-token");
  });
});

describe("the posts of examples/json-api", () => {
  beforeEachStart("json-api", createBlogService, { authorization: "Token demo-token" });

  test("are read to their end, and a new one is found at its address", async () => {
    const post = { title: "News", body: "None.", author_id: 2 };
    const { status, headers, body } = await gateway.send("POST /posts", { body: { post } });
    expect([status, headers.get("location")]).toEqual([201, "/posts/6"]);
    expect(await get("/posts/6")).toEqual(body);
    const pages = [await get("/posts?page=1"), await get("/posts?page=2"), await get("/posts?page=3")];
    expect(pages.flatMap(({ posts }) => posts).map(({ id, author }) => [id, author.name])).toEqual([
      [1, "Ada"],
      [2, "Bob"],
      [3, "Ada"],
      [4, "Bob"],
      [5, "Ada"],
      [6, "Bob"],
    ]);
  });
});

describe("lists of examples/cursors", () => {
  beforeEachStart(
    "cursors",
    createFestivalService,
    { authorization: "Bearer demo-token" },
    { PUBLIC_URL: "https://festival.example/old" },
  );

  test("are followed to their end by links with the host of the gateway", async () => {
    const seen: string[] = [];
    for (let path: string | undefined = "/songs?limit=3"; path !== undefined;) {
      const body = await get(path);
      seen.push(...body.songs.map(({ title }: { title: string }) => title));
      path = body.next?.replace("https://festival.example/old", "");
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7].map((id) => `Song ${id}`));
  });

  test("are followed by the id of the last object, and back by that of the first", async () => {
    const idsOf = async (path: string): Promise<string[]> =>
      (await get(path)).data.map(({ id }: { id: string }) => id);
    expect(await idsOf("/receipts")).toEqual(["re_1", "re_2"]);
    expect(await idsOf("/receipts?starting_after=re_2&limit=3")).toEqual(["re_3", "re_4", "re_5"]);
    expect(await idsOf("/receipts?starting_after=re_5")).toEqual(["re_6"]);
    expect(await idsOf("/receipts?ending_before=re_3")).toEqual(["re_1", "re_2"]);
  });

  test("are followed by cursors that the gateway makes, and by numbers along cursors", async () => {
    const seen: string[] = [];
    for (let cursor = ""; cursor !== "end";) {
      const body = await get(`/subscriptions?limit=2${cursor && `&offset=${cursor}`}`);
      seen.push(...body.list.map((item: { subscription: { id: string } }) => item.subscription.id));
      cursor = body.next_offset ?? "end";
    }
    expect(seen).toEqual(["s1", "s2", "s3", "s4", "s5"]);
    expect(await get("/tickets?page=3&per_page=2")).toMatchObject([{ number: 5 }, { number: 6 }]);
    expect((await get("/plans")).list).toHaveLength(2);
  });
});
