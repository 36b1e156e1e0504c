/** R-13: a token that the gateway handed out does no more in v4's own dialect than in alpha's. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { createNativeAuthorization } from "../../../src/gateway/forward/native-authorization.ts";
import type { TokenLookup } from "../../../src/gateway/auth/token-store.ts";
import { createGatewayTokens } from "../../../src/gateway/auth/gateway-secret.ts";
import { tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { createApplication, REGISTERED, type Application } from "../oauth/application.ts";
import { packIn } from "../../support/packs.ts";
import { RECORDING, startGateway, type Gateway, type TestResponse } from "../../support/gateway.ts";
import { copyPack } from "../../support/pack-copy.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const GATEWAY_SECRET = "s".repeat(32);
let app: Application;
const gateway = startForTests(() => startGateway({ GATEWAY_SECRET, ...RECORDING }));
beforeEach(async () => {
  const { body } = await gateway.requestV4("POST /account/oauth-clients", {
    body: { label: "app", redirect_uri: REGISTERED },
  });
  app = createApplication(gateway.app, { id: body.id, secret: body.secret });
  gateway.takeV4Requests();
});

const bearer = (call: string, token: string, body?: unknown): Promise<TestResponse> =>
  gateway.request(call, { as: null, body, headers: { authorization: `Bearer ${token}` } });
const tokenFor = async (scopes: string): Promise<string> => {
  const { token } = await app.token(scopes);
  gateway.takeV4Requests();
  return token;
};

describe("R-13 a token of the gateway, used as Bearer", () => {
  test("is replaced by v4's token, and permits what its levels permit", async () => {
    const token = await tokenFor("vms:modify");
    expect((await bearer("GET /v4/vm/instances", token)).status).toBe(200);
    expect((await bearer("PUT /v4/vm/instances/5201", token, { tags: [] })).status).toBe(200);
    for (const { headers } of gateway.takeV4Requests()) expect(headers["authorization"]).not.toContain(token);
  });

  test.each([
    ["DELETE /v4/vm/instances/5201", undefined],
    ["POST /v4/vm/instances", { region: "us-east", type: "g6-nanode-1" }],
    // No alpha route makes these calls, and v4 would allow them.
    ["POST /v4/vm/instances/5201/mutate", {}],
    ["DELETE /v4/vm/instances/5201/", undefined],
    ["DELETE /v4/vm//instances/5201", undefined],
    ["DELETE /v4/vm/%69nstances/5201", undefined],
    ["DELETE /v4/vm/instances/5201;x=1", undefined],
    ["PATCH /v4/vm/instances/5201", {}],
  ])("with level modify is rejected for %s without a v4 request", async (call, body) => {
    const token = await tokenFor("vms:modify");
    expect(await bearer(call, token, body)).toMatchObject({
      status: 403,
      body: { errors: [{ reason: expect.any(String) }] },
    });
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("with level view permits what alpha reads with it, even if an alpha write needs that read too", async () => {
    const token = await tokenFor("vms:view");
    expect((await gateway.request("GET /vm/instances/5201", { as: token })).status).toBe(200);
    expect((await bearer("GET /v4/vm/instances/5201", token)).status).toBe(200);
    expect((await bearer("PUT /v4/vm/instances/5201", token, { tags: [] })).status).toBe(403);
  });

  test("with the highest level permits everything in v4", async () => {
    const token = await tokenFor("vms:delete,ips:delete");
    expect((await bearer("GET /v4/vm/instances/5201/volumes", token)).status).not.toBe(403);
    expect((await bearer("POST /v4/vm/instances/5201/mutate", token, {})).status).not.toBe(403);
    expect(gateway.takeV4Requests()).toHaveLength(2);
  });

  test("for one resource does not permit other resources of the same v4 area", async () => {
    const token = await tokenFor("tickets:modify");
    expect((await bearer("GET /v4/support/tickets", token)).status).toBe(200);
    for (const call of [
      "GET /v4/account/invoices",
      "GET /v4/account/oauth-clients",
      "POST /v4/account/payments",
    ])
      expect([call, (await bearer(call, token)).status]).toEqual([call, 403]);
  });

  test("cannot create tokens in v4's dialect, because they would have v4's levels", async () => {
    const token = await tokenFor("vms:modify,tokens:create");
    const body = { scopes: "vms:read_write", label: "more" };
    expect((await bearer("POST /v4/profile/tokens", token, body)).status).toBe(403);
  });

  test("without scopes permits only public resources", async () => {
    const token = await tokenFor("");
    expect((await bearer("GET /v4/regions", token)).status).toBe(200);
    for (const call of ["GET /v4/profile", "GET /v4/vm/instances", "GET /v4/account/events"])
      expect([call, (await bearer(call, token)).status]).toEqual([call, 403]);
  });

  test("gets 401 once it is expired or its record is lost, without a v4 request", async () => {
    const token = await tokenFor("vms:modify");
    await app.expire(token);
    gateway.takeV4Requests();
    const lost = createGatewayTokens(GATEWAY_SECRET).create();
    for (const each of [token, lost]) {
      for (const call of ["GET /v4/vm/instances", "DELETE /v4/vm/instances/5201"]) {
        expect((await bearer(call, each)).status).toBe(401);
        expect((await gateway.request(call, { as: each })).status).toBe(401);
      }
    }
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("is recorded under the fingerprint of what the client sent", async () => {
    const token = await tokenFor("vms:view");
    await bearer("GET /v4/vm/instances", token);
    const [record] = await gateway.readAudit();
    expect(record).toMatchObject({ lane: "native", client: { fingerprint: tokenHash(token).slice(0, 16) } });
  });
});

test("v4's own tokens and unknown ones are forwarded for v4 to judge", async () => {
  gateway.takeV4Requests();
  expect((await bearer("GET /v4/profile", gateway.sandbox.tokens.full)).status).toBe(200);
  const madeUp = randomBytes(32).toString("hex");
  expect((await bearer("GET /v4/vm/instances", madeUp)).status).toBe(401);
  expect(gateway.takeV4Requests().map(({ headers }) => headers["authorization"])).toEqual([
    `Bearer ${gateway.sandbox.tokens.full}`,
    `Bearer ${madeUp}`,
  ]);
});

describe("R-13 with a pack whose clients may send a method in a header, a token of the gateway, used as Bearer", () => {
  const pack = copyPack();
  const text = readFileSync(join(pack.folder, "pack.yaml"), "utf8");
  let other: Gateway;
  let token: string;
  const startWith = async (header: string): Promise<void> => {
    pack.write("pack.yaml", text.replace(/^client:$/m, `client:\n  method_header: ${header}`));
    other = await startGateway({ MAPPINGS_DIR: pack.folder, ...RECORDING });
    const { body } = await other.requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    ({ token } = await createApplication(other.app, body).token("vms:modify"));
    other.takeV4Requests();
  };
  const post = (headers: Record<string, string>) =>
    other.request("POST /v4/vm/instances/5201", {
      as: null,
      body: { tags: [] },
      headers: { authorization: `Bearer ${token}`, ...headers },
    });

  test.each([
    ["X-HTTP-Method-Override", 400],
    ["X-Action", 403],
  ])("is judged and recorded by the method that v4 would get: %s is a %i", async (header, status) => {
    await startWith(header);
    expect((await post({ [header]: "PUT" })).status).toBe(status);
    expect(other.takeV4Requests()).toEqual([]);
    expect((await other.readAudit())[0]).toMatchObject({ lane: "native", alpha: { method: "POST", status } });
  });
});

describe("every v4 request of alpha's routes, with every level", () => {
  const pack = packIn("mappings");
  const { scopes } = pack;
  let found: TokenLookup;
  const enter = createNativeAuthorization({ issued: { find: () => found }, scopes, accessOf: pack.v4Access });
  const ask = async (call: string, levels: string): Promise<number> => {
    const [method = "", path = ""] = call.split(" ");
    found = { grants: scopes.read(levels).grants, token: "v4", hash: "h", isRevoked: false };
    const { error } = await enter({ method, path } as never, "h", "t");
    return error?.status ?? 200;
  };
  // What an alpha write asks for raises no read of v4.
  const raises = ({ name, source }: (typeof pack.routes)[number]): boolean =>
    "call" in source && (source.call.method !== "GET" || name.startsWith("GET "));
  const needs = pack.routes
    .filter(raises)
    .flatMap(({ source, access }) =>
      "call" in source && typeof access === "object"
        ? [
            [
              `${source.call.method} /v4${source.call.template.replaceAll(/\{[^}]*\}/g, "7")}`,
              access,
            ] as const,
          ]
        : [],
    );

  test.each(needs)(
    "%s is rejected below the level that alpha requires",
    async (call, { resource, level }) => {
      const names = pack.dialect.scopes?.levels ?? [];
      for (const name of names.slice(0, level))
        expect([name, await ask(call, `${resource}:${name}`)]).toEqual([name, 403]);
      expect(await ask(call, "*")).toBe(200);
      expect(await ask(call, resource === "vms" ? "dnszones:modify" : "vms:modify")).toBe(
        pack.v4Access(call.split(" ")[0] ?? "", call.split(" ")[1] ?? "")?.required.includes("public")
          ? 200
          : 403,
      );
    },
  );

  test("while the token store is down, reads are forwarded and writes are rejected", async () => {
    found = "unknown";
    const status = async (method: string) =>
      (await enter({ method, path: "/v4/vm/instances" } as never, "h", "t")).error?.status;
    expect([await status("GET"), await status("DELETE")]).toEqual([undefined, 503]);
  });
});
