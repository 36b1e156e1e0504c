/** A service with its own product word, which replaces `vm` for clients and for v4. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { answer, errorOn, type Json } from "./helpers.ts";
import { startGateway, type Gateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startGateway({ WORDS: "vm=acme,orch=acmeks" }, { words: { vm: "acme", orch: "acmeks" } }),
);

const debian = {
  datacenter: "newark",
  type: "standard-1",
  distribution: "acme/debian11",
  root_pass: "S0me-long-Passw0rd",
};

describe("WORDS=vm=acme", () => {
  test("renames paths on both sides", async () => {
    gateway.takeV4Requests();
    expect((await gateway.request("GET /acme/instances/5201")).body).toMatchObject({ id: 5201 });
    const paths = gateway.takeV4Requests().map(({ path }) => path);
    expect(paths[0]).toBe("/v4/acme/instances/5201");
    expect(paths.every((path) => path.startsWith("/v4/acme/"))).toBe(true);
  });

  test.each(["GET /vm/instances", "GET /vm/instances/5201", "GET /vm/kernels"])(
    "%s gets 404",
    async (call) => {
      expect(await gateway.request(call)).toEqual(errorOn(404));
    },
  );

  test("renames lists", async () => {
    const { body } = await gateway.request("GET /acme/instances");
    expect(Object.keys(body)).toEqual(["acmes", "page", "total_pages", "total_results"]);
    expect([body.acmes.length, body.total_results]).toEqual([25, 60]);
  });

  test("renames ids of distributions and kernels, and their old spellings", async () => {
    expect((await gateway.request("GET /acme/distributions/acme/debian11")).body.id).toBe("acme/debian11");
    expect((await gateway.request("GET /acme/kernels/acme/latest_64")).body.id).toBe("acme/latest_64");
    expect((await gateway.request("GET /acme/kernels/acme/latest_32")).body.id).toBe("acme/latest");
    expect((await gateway.request("GET /acme/kernels/vm/latest_64")).status).toBe(404);
  });

  test("renames service_type, and types with old names", async () => {
    expect((await gateway.request("GET /acme/types/g6-standard-1")).body.service_type).toBe("acme");
    const response = await gateway.request("POST /acme/instances", {
      body: { datacenter: "newark", type: "acme2048.5" },
    });
    gateway.clock.advance(31_000);
    expect(response.body.type[0].id).toBe("g6-standard-1");
  });

  test("renames the default label, and ids in bodies", async () => {
    gateway.takeV4Requests();
    const { status, body } = await gateway.request("POST /acme/instances", { body: debian });
    gateway.clock.advance(31_000);
    expect([status, body.label, body.distribution.id]).toEqual([200, "acme", "acme/debian11"]);
    expect(gateway.takeV4Requests()[0]?.body).toMatchObject({
      label: "acme",
      image: "acme/debian11",
      booted: false,
    });
    expect(
      await gateway.request("POST /acme/instances", { body: { ...debian, distribution: "vm/debian11" } }),
    ).toEqual(errorOn(400, "distribution"));
  });

  test("renames scopes", async () => {
    for (const _time of [1, 2]) {
      expect((await gateway.request("GET /acme/instances", { as: "readOnly" })).status).toBe(200);
      expect(
        (await gateway.request("PUT /acme/instances/5201", { as: "readOnly", body: { group: "a" } })).status,
      ).toBe(403);
      expect(
        (await gateway.request("PUT /acme/instances/5201", { as: "vms", body: { group: "a" } })).status,
      ).toBe(200);
      expect((await gateway.request("GET /acme/instances", { as: "none" })).status).toBe(403);
    }
  });

  test("renames values in filters", async () => {
    const { body } = await gateway.request("GET /acme/instances", { filter: { distribution: "acme/arch" } });
    expect(body.total_results).toBeGreaterThan(0);
    expect(new Set(body.acmes.map(({ distribution }: Json) => (distribution as Json)["id"]))).toEqual(
      new Set(["acme/arch"]),
    );
  });

  test("renames X-V4-Equivalent", async () => {
    const { headers } = await gateway.request("GET /acme/instances");
    expect(headers.get("x-v4-equivalent")).toBe("GET /v4/acme/instances?page=1&page_size=25");
  });

  test("leaves no neutral word in a response, and changes no other text", async () => {
    for (const path of [
      "/acme/instances",
      "/acme/distributions",
      "/acme/kernels",
      "/acme/types",
      "/datacenters",
    ]) {
      const { status, text } = await gateway.request(`GET ${path}`);
      expect(status).toBe(200);
      expect(text).not.toMatch(/(?<![A-Za-z])vms?(?![A-Za-z])/i);
    }
    expect((await gateway.request("GET /datacenters/newark")).body).toEqual({
      id: "newark",
      label: "Newark, NJ",
      country: "us",
    });
  });

  test("accepts whole objects that are sent back", async () => {
    const { body } = await gateway.request("GET /acme/instances/5208");
    const response = await gateway.request("PUT /acme/instances/5208", { body });
    expect(response).toEqual(answer(200, { ...body, updated: response.body.updated }));
  });
});

describe("a service that spells everything out: WORDS with script, monitor and loadbalancer", () => {
  const words = {
    vm: "acme",
    orch: "acmeks",
    script: "stackscript",
    monitor: "longview",
    loadbalancer: "nodebalancer",
  };
  let spelled: Gateway;
  beforeAll(async () => {
    const WORDS = Object.entries(words)
      .map((pair) => pair.join("="))
      .join(",");
    spelled = await startGateway({ WORDS }, { words });
  });

  const script = {
    label: "Install a shop",
    script: "#!/bin/bash\necho 1\n",
    distributions: ["acme/debian11"],
  };

  test("event actions are spelled out, and an event filter takes them", async () => {
    expect((await spelled.request("POST /acme/stackscripts", { body: script })).status).toBe(200);
    const { body } = await spelled.request("GET /account/events", {
      filter: { action: "stackscript_create" },
    });
    expect(body.events[0]).toMatchObject({ action: "stackscript_create", entity: { type: "stackscript" } });
    const neutral = await spelled.request("GET /account/events", { filter: { action: "script_create" } });
    expect(neutral.status).toBe(400);
  });

  test("the member script of a stored script keeps its name", async () => {
    const { body } = await spelled.request("POST /acme/stackscripts", {
      body: { ...script, label: "Another one" },
    });
    expect(body.script).toBe(script.script);
    expect(spelled.takeV4Requests().at(-1)?.body).toMatchObject({ script: script.script });
  });

  test("scopes in v4's header, in new tokens and at a sign-in are spelled out", async () => {
    const scopes = "stackscripts:view,nodebalancers:modify,longview:view";
    const response = await spelled.request("POST /account/tokens", { body: { label: "narrow", scopes } });
    expect(response.body.scopes).toBe(scopes);
    expect(spelled.takeV4Requests().at(-1)?.body).toMatchObject({
      scopes: "stackscripts:read_only nodebalancers:read_write longview:read_only events:read_only",
    });
    const as = response.body.token as string;
    expect((await spelled.request("GET /nodebalancers", { as })).status).toBe(200);
    // The client's token is the gateway's own: v4 is shown its own in its place.
    const v4Token = String(spelled.takeV4Requests().at(-1)?.headers["authorization"]).replace("Bearer ", "");
    expect((await spelled.request("POST /acme/stackscripts", { as, body: script })).status).toBe(403);
    const v4 = await spelled.requestV4("GET /nodebalancers", { as: v4Token });
    expect(v4.headers.get("x-accepted-oauth-scopes")).toBe("nodebalancers:read_only");
    expect(v4.headers.get("x-oauth-scopes")).toContain("longview:read_only");
  });
});
