/** `examples/cursors`: a program of the old API follows the pages of each list, through the gateway, at the new service. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createFestivalService } from "../../../examples/cursors/service.ts";
import { startExample, type ExampleGateway } from "./example-gateway.ts";

let gateway: ExampleGateway;
beforeEach(async () => {
  gateway = await startExample(
    "cursors",
    createFestivalService(),
    { authorization: "Bearer demo-token" },
    { PUBLIC_URL: "https://festival.example/old" },
  );
});
afterEach(() => gateway.stop());

const get = async (path: string) => {
  const before = gateway.received.length;
  const { status, body, headers } = await gateway.send(`GET ${path}`);
  return { status, body, headers, sent: gateway.received.slice(before) };
};

describe("songs", () => {
  test("have links with the host of the gateway, up to the last page", async () => {
    const seen: string[] = [];
    for (let path: string | undefined = "/songs?limit=3"; path !== undefined;) {
      const { body }: Awaited<ReturnType<typeof get>> = await get(path);
      seen.push(...body.songs.map(({ title }: { title: string }) => title));
      path = body.next?.replace("https://festival.example/old", "");
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7].map((id) => `Song ${id}`));
  });

  test("have a page of the largest size where a client asks for more", async () => {
    const { body, sent } = await get("/songs?limit=1000");
    expect([body.limit, body.songs.length, sent]).toEqual([3, 3, ["GET /tracks?page=1&size=3"]]);
  });
});

describe("tickets", () => {
  test("have numbered pages, which the gateway reads along cursors", async () => {
    const { body, headers, sent } = await get("/tickets?page=3&per_page=2");
    expect(body).toEqual([
      { number: 5, subject: "Seat 5" },
      { number: 6, subject: "Seat 6" },
    ]);
    expect(headers.get("x-total-count")).toBe("7");
    expect(headers.get("link")).toContain('</tickets?page=4&per_page=2>; rel="next"');
    expect(sent).toHaveLength(2);
  });
});

describe("receipts", () => {
  const idsOf = ({ body }: Awaited<ReturnType<typeof get>>): string[] =>
    body.data.map(({ id }: { id: string }) => id);

  test("follow one another by the id of the last one, and back by that of the first", async () => {
    const first = await get("/receipts");
    expect([idsOf(first), first.body.has_more]).toEqual([["re_1", "re_2"], true]);
    const next = await get(`/receipts?starting_after=${first.body.next}&limit=3`);
    expect(idsOf(next)).toEqual(["re_3", "re_4", "re_5"]);
    const last = await get(`/receipts?starting_after=${next.body.next}`);
    expect([idsOf(last), last.body.has_more, last.body.next]).toEqual([["re_6"], false, ""]);
    expect(idsOf(await get("/receipts?ending_before=re_3"))).toEqual(["re_1", "re_2"]);
  });

  test("are changed in their wrapper, and removed", async () => {
    const changed = await gateway.send("PATCH /receipts/2", { body: { amount: 250 } });
    expect(changed.body).toEqual({ receipt: { id: "re_2", amount: 250, payer: null } });
    expect((await get("/receipts/2")).body.receipt).toEqual({ id: "re_2", amount: 250, payer: "Ada" });
    expect((await gateway.send("DELETE /receipts/2")).status).toBe(200);
    expect((await get("/receipts/2")).status).toBe(404);
  });
});

describe("subscriptions", () => {
  test("follow one another by cursors that the gateway makes", async () => {
    const seen: string[] = [];
    for (let cursor = ""; cursor !== "end";) {
      const { body } = await get(`/subscriptions?limit=2${cursor && `&offset=${cursor}`}`);
      seen.push(...body.list.map((item: { subscription: { id: string } }) => item.subscription.id));
      cursor = body.next_offset ?? "end";
    }
    expect(seen).toEqual(["s1", "s2", "s3", "s4", "s5"]);
  });

  test("that are active are selected by the gateway", async () => {
    const { body } = await get("/active_subscriptions?limit=5");
    expect(body.list).toHaveLength(3);
  });

  test("have the plans that the gateway keeps", async () => {
    const { body } = await get("/plans");
    expect(body.list).toEqual([
      { plan: { id: "small", name: "One day" } },
      { plan: { id: "large", name: "All days" } },
    ]);
  });
});
