/** Stored scripts, which clients choose from before they create an instance. */
import { describe, expect, test } from "@jest/globals";
import { flag, dateTime, number, text } from "./forms.ts";
import { answer, successWith, errorOn, fetchAllRows } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

const script = {
  id: number,
  customer_id: 0,
  user_id: 0,
  label: text,
  description: text,
  distributions: expect.arrayContaining([
    expect.objectContaining({ id: expect.stringMatching(/^vm\//), x64: flag, recommended: flag }),
  ]),
  deployments_total: number,
  deployments_active: number,
  is_public: flag,
  created: dateTime,
  updated: dateTime,
  rev_note: text,
  script: text,
  user_defined_fields: expect.any(Array),
};

const labels = async (filter: unknown, as: string | null = "full"): Promise<unknown[]> =>
  (await fetchAllRows(gateway, "GET /vm/stackscripts", "stackscripts", { filter, as })).map(
    ({ label }) => label,
  );

const newToken = async (scopes: string): Promise<{ id: number; token: string }> =>
  (await gateway.requestV4("POST /profile/tokens", { body: { scopes } })).body;

describe("T-8.7 stored scripts", () => {
  test("A-008 A-011 public ones are listed without a token, in the envelope", async () => {
    const { status, body } = await gateway.request("GET /vm/stackscripts", { as: null });
    expect([status, body]).toEqual([
      200,
      { stackscripts: [script, script, script], page: 1, total_pages: 1, total_results: 3 },
    ]);
  });

  test("a token is forwarded, so that its own scripts are listed too", async () => {
    expect(await labels({})).toContain("base setup");
    expect(await labels({}, null)).not.toContain("base setup");
  });

  test.each([
    ["without a scope for scripts", async () => (await newToken("vms:read_only")).token],
    ["that nobody knows", async () => "0".repeat(64)],
    [
      "that v4 takes no more",
      async () => {
        const { id, token } = await newToken("scripts:read_only");
        await gateway.request("GET /vm/stackscripts", { as: token });
        await gateway.requestV4(`DELETE /profile/tokens/${id}`);
        return token;
      },
    ],
  ])("A-008 public ones are listed with a token %s too, every time", async (_, make) => {
    const as = await make();
    const { body: without } = await gateway.request("GET /vm/stackscripts", { as: null });
    for (let n = 0; n < 2; n += 1)
      expect(await gateway.request("GET /vm/stackscripts", { as })).toEqual(answer(200, without));
    expect((await gateway.request("POST /vm/stackscripts", { as, body: {} })).status).not.toBe(200);
  });

  test("A-020 A-026 can be filtered by the caller's own, although no script shows its owner", async () => {
    expect(await labels({ mine: true })).toEqual(["base setup"]);
    expect(await labels({ mine: false, "+order_by": "deployments_total", "+order": "desc" })).toEqual([
      "Web server",
      "Debian hardening",
      "Game server",
    ]);
  });

  test("can be read with their questions; an unknown one gets 404", async () => {
    expect(await gateway.request("GET /vm/stackscripts/90022")).toEqual(
      successWith({
        user_defined_fields: [
          { name: "ADMIN_MAIL", label: "Admin mail", example: "a@example.net" },
          { name: "DOMAIN", label: "Domain", example: "" },
          { name: "PHP", label: "PHP version", example: "", default: "8.1", oneof: "7.4,8.0,8.1" },
        ],
      }),
    );
    expect(await gateway.request("GET /vm/stackscripts/1")).toEqual(errorOn(404));
  });

  test("require a token to be read one by one", async () => {
    expect(await gateway.request("GET /vm/stackscripts/90022", { as: null })).toEqual(errorOn(401));
  });
});
