/** A client cannot hide its requests from the audit by declaring their parts secret. */
import { beforeEach, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { json } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const TOKEN = "t0k3n-of-a-client";

const gateway = startForTests(() => startGatewayWithFakeV4(RECORDING));
beforeEach(() => gateway.v4.respondWith(json(200, { id: 5204 })));

const native = (call: string) =>
  gateway.request(call, { as: null, headers: { authorization: `Bearer ${TOKEN}` } });
const hiding = "token=5204&password=instances&secret=/v4/&token=/v4/vm/&password=vm/instances/5204";
const many = Array.from({ length: 510 }, (_, n) => `token=abc${1000 + n}`).join("&");

test.each([
  ["by its words", hiding],
  ["by more secrets than can be searched for", many],
])("a native request cannot be hidden %s", async (_, query) => {
  // The harness puts alpha's prefix before a path.
  await native(`DELETE /vm/instances/5204?${query}`);
  const { alpha, v4, warnings } = await gateway.readLastRecord();
  expect(alpha).toMatchObject({ method: "DELETE", path: "/v4/vm/instances/5204", status: 200 });
  expect(v4[0].path).toMatch(/^\/v4\/vm\/instances\/5204\?/);
  expect(JSON.stringify(v4)).not.toContain("abc1");
  expect(warnings.some((text: string) => text.includes("more secrets than"))).toBe(query === many);
});

test.each([
  ["by its words", hiding],
  ["by more secrets than can be searched for", many],
])("an alpha request cannot be hidden %s", async (_, query) => {
  await gateway.request(`DELETE /vm/instances/5204?${query}`, { as: TOKEN });
  const { alpha, v4, warnings } = await gateway.readLastRecord();
  expect(alpha).toMatchObject({
    method: "DELETE",
    path: "/v4/vm/instances/5204",
    route: "DELETE /vm/instances/:id",
    status: 200,
  });
  expect(v4[0]).toMatchObject({ method: "DELETE", path: "/v4/vm/instances/5204", status: 200 });
  expect(warnings.some((text: string) => text.includes("more secrets than"))).toBe(query === many);
});

test("an alpha request cannot be hidden by a header, nor by other spellings of its path", async () => {
  await gateway.request("DELETE /vm/inst%61nces/5204", {
    as: TOKEN,
    filter: { password: "inst%61nces", token: ["5204", "/5204"] },
    headers: { "user-agent": "token=inst%61nces/5204" },
  });
  const { alpha, v4 } = await gateway.readLastRecord();
  expect(alpha).toMatchObject({ path: "/v4/vm/inst%61nces/5204", route: "DELETE /vm/instances/:id" });
  expect(v4[0].path).toBe("/v4/vm/instances/5204");
});

test("the user in an alpha request cannot be hidden, but a token in its place is not recorded", async () => {
  await gateway.request("GET /account/users/alice.smith?password=alice.smith", { as: TOKEN });
  expect((await gateway.readLastRecord()).alpha.path).toBe("/v4/account/users/alice.smith");
  await gateway.request(`GET /account/users/${TOKEN}`, { as: TOKEN });
  const { alpha, v4 } = await gateway.readLastRecord();
  expect([alpha.path, v4[0].path]).toEqual([
    "/v4/account/users/[redacted]",
    expect.stringMatching(/users\/\[redacted\]$/),
  ]);
});

test.each([
  ["a query", "?token=alice7&password=alice7", {}],
  ["a filter", "", { filter: { password: "alice7" } }],
  ["a body", "", { body: { password: "alice7", code: ["alice7"] } }],
])(
  "the user in an alpha request cannot be hidden by %s that calls its name secret",
  async (_, query, sent) => {
    await gateway.request(`PUT /account/users/alice7${query}`, { as: TOKEN, body: {}, ...sent });
    const { alpha, v4 } = await gateway.readLastRecord();
    expect(alpha).toMatchObject({ route: "PUT /account/users/:username", path: "/v4/account/users/alice7" });
    expect(v4.map(({ path }: { path: string }) => path)).toContain("/v4/account/users/alice7");
  },
);

test("short values of a query do not redact v4's response", async () => {
  gateway.v4.respondWith(json(200, { id: 5204, label: "label", status: "running" }));
  await gateway.request("GET /vm/instances/5204?token=label&password=5204&secret=run", { as: TOKEN });
  const { v4 } = await gateway.readLastRecord();
  expect(v4[0].response).toMatchObject({ id: 5204, label: "label", status: "running" });
});
