/** The plan by which alpha ends, as clients and operators meet it, by a clock that the test moves. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { fingerprint, tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { allBut } from "../../support/fake-time.ts";
import { startGateway, type Gateway, type TestSettings, RECORDING } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

const LIST = "GET /vm/instances";
/** A Monday. */
const START = "2026-06-01T09:00:00Z";
const LINKS = "policy: https://example.com/policy\nguide: https://example.com/guide\n";
const BROWN_OUT = `stages: [{ name: first, brown_out: "0 10 * * 1", for: 1h, from: 2026-05-01 }]\n`;

let gateway: Gateway;
let folder: string;
captureCommands();
beforeEach(() => {
  folder = temporaryFolder();
  jest.useFakeTimers({ now: new Date(START), doNotFake: allBut("Date") });
});
afterEach(() => {
  jest.useRealTimers();
});

function moveTo(moment: string): void {
  jest.setSystemTime(new Date(moment));
}

/** Starts a gateway with a plan that was announced in January. Without records: an audit store takes most of a start. */
async function startWith(plan: string, settings: TestSettings = {}): Promise<string> {
  const file = writeOperatorFile(`announced: 2026-01-01\n${plan}`);
  gateway = await startGateway({ SUNSET_FILE: file, ...settings });
  return file;
}

/** The same with a gateway that knows from its records who called before. */
const startRecording = (plan: string, settings: TestSettings = {}): Promise<string> =>
  startWith(plan, { ...RECORDING, ...settings });

const clientsFile = (text: string): string => writeOperatorFile(text, "clients.yaml");

/** The value of a metric. */
async function metric(name: string): Promise<number> {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return Number(new RegExp(`^${name.replaceAll(/[{}|]/g, "\\$&")} (.+)$`, "m").exec(text)?.[1]);
}

const planStatus = async () => (await gateway.requestAdmin("GET /api/sunset")).body.plan;

describe("a window of a brown-out", () => {
  test("gives alpha requests 500 with its end, the link and Retry-After, without a v4 request", async () => {
    await startWith(LINKS + BROWN_OUT);
    expect((await gateway.request(LIST)).status).toBe(200);
    moveTo("2026-06-01T10:30:00Z");
    gateway.takeV4Requests();
    const { status, body, headers } = await gateway.request(LIST);
    expect(status).toBe(500);
    expect(body).toEqual({
      errors: [
        {
          reason:
            "Error: this interface is being retired and is switched off for a while. It is available again at " +
            "2026-06-01T11:00:00.000Z. See https://example.com/policy",
        },
      ],
    });
    expect(headers.get("retry-after")).toBe(String(30 * 60 + 2));
    expect(headers.get("x-sunset-code")).toBe("brown_out");
    expect(gateway.takeV4Requests()).toEqual([]);
    for (const name of ["deprecation", "x-ratelimit-remaining", "x-request-id"])
      expect(headers.get(name)).not.toBeNull();
    moveTo("2026-06-01T11:00:00Z");
    expect((await gateway.request(LIST)).status).toBe(200);
  });

  test("is recorded with its route, and counted", async () => {
    await startRecording(BROWN_OUT);
    moveTo("2026-06-01T10:30:00Z");
    await gateway.request(LIST);
    const [record] = await gateway.readAudit();
    expect(record).toMatchObject({ alpha: { route: LIST, status: 500 }, v4: [], rejectedBy: "brown_out" });
    expect(record.warnings).toEqual(["brown-out until 2026-06-01T11:00:00.000Z"]);
    expect(await metric('alpha_gateway_refusals_total{reason="brown_out",status="500"}')).toBe(1);
    expect(await metric('alpha_gateway_sunset_requests_total{stage="first",kind="brown_out"}')).toBe(1);
    expect(await metric("alpha_gateway_sunset_stages_active")).toBe(1);
  });

  test("does not affect other routes, unknown paths and native requests", async () => {
    await startWith(BROWN_OUT.replace("for: 1h", `for: 1h, routes: ["${LIST}"]`));
    moveTo("2026-06-01T10:30:00Z");
    expect((await gateway.request(LIST)).status).toBe(500);
    expect((await gateway.request("GET /datacenters")).status).toBe(200);
    expect((await gateway.request("GET /nothing")).status).toBe(404);
    const authorization = `Bearer ${gateway.sandbox.tokens.full}`;
    const native = await gateway.request(LIST, { as: null, headers: { authorization } });
    expect([native.status, native.headers.get("deprecation")]).toEqual([200, null]);
  });

  test("does not begin while a client that it waits for called within 14 days before", async () => {
    await startRecording(BROWN_OUT.replace("for: 1h", "for: 1h, wait_for: [reports]"), {
      CLIENTS_FILE: clientsFile(`reports: { user_agents: ["reports/*"] }`),
    });
    await gateway.request(LIST, { headers: { "user-agent": "reports/1" } });
    moveTo("2026-06-08T10:30:00Z");
    await waitFor(async () => {
      const [stage] = (await planStatus()).stages;
      return stage.state === "waiting" && stage.blockedBy[0] === "reports";
    });
    expect((await gateway.request(LIST, { as: "other" })).status).toBe(200);
    // The last call was on the 1st of June at nine, and the window begins at ten.
    moveTo("2026-06-15T10:30:00Z");
    await waitFor(async () => (await planStatus()).stages[0].state === "active");
    expect((await gateway.request(LIST, { headers: { "user-agent": "reports/1" } })).status).toBe(500);
  });
});

describe("a window that is open", () => {
  test("ends for a client that a changed plan waits for, and begins again without it", async () => {
    const waiting = (...names: string[]): string =>
      BROWN_OUT.replace("for: 1h", `for: 1h, wait_for: [${names.join(", ")}]`);
    const file = await startRecording(waiting("silent"), {
      CLIENTS_FILE: clientsFile(`reports: { user_agents: ["reports/*"] }\nsilent: {}`),
    });
    const statusAfter = async (plan: string, state: string): Promise<number> => {
      writeFileSync(file, `announced: 2026-01-01\n${plan}`);
      await gateway.reload();
      await waitFor(async () => (await planStatus()).stages[0].state === state);
      return (await gateway.request(LIST, { as: "other" })).status;
    };
    await gateway.request(LIST, { headers: { "user-agent": "reports/1" } });
    moveTo("2026-06-01T10:30:00Z");
    await waitFor(async () => (await planStatus()).stages[0].state === "active");
    expect(await statusAfter(waiting("silent", "reports"), "waiting")).toBe(200);
    await waitFor(async () => (await planStatus()).stages[0].blockedBy[0] === "reports");
    expect(await statusAfter(waiting("silent"), "active")).toBe(500);
  });
});

describe("a storm of retries", () => {
  /** A request of one of the accepted tokens, from an address of its own. */
  const requestFrom = (as: string, address: string) =>
    gateway.request(LIST, { as, headers: { "x-forwarded-for": address } });
  async function stormFrom(as: string, address: string): Promise<void> {
    await waitFor(async () => {
      for (let request = 0; request < 40; request += 1) await requestFrom(as, address);
      return (await requestFrom(as, address)).status === 200;
    });
  }
  const SENDERS = [
    ["full", "192.0.2.1"],
    ["other", "192.0.2.2"],
    ["readOnly", "192.0.2.3"],
  ] as const;

  test("of three clients pauses the stage until a person resumes it", async () => {
    await startRecording(BROWN_OUT, { TRUST_PROXY: "127.0.0.1" });
    for (const [as, address] of SENDERS) await requestFrom(as, address);
    moveTo("2026-06-01T10:30:00Z");
    for (const [as, address] of SENDERS) {
      // The storm of one client lets no other through.
      expect((await requestFrom(as, address)).status).toBe(500);
      await stormFrom(as, address);
    }
    await waitFor(async () => (await planStatus()).stages[0].state === "paused");
    expect((await gateway.request(LIST)).status).toBe(200);
    const { pauses } = await planStatus();
    expect(pauses).toEqual([
      {
        stage: "first",
        by: "gateway",
        at: expect.stringMatching(/^2026-06-01T10:30/),
        reason: expect.stringMatching(
          /^[0-9a-f]{16}, [0-9a-f]{16}, [0-9a-f]{16} answered with storms of retries$/,
        ),
      },
    ]);
    moveTo("2026-06-08T10:30:00Z");
    expect((await gateway.request(LIST)).status).toBe(200);
    await gateway.requestAdmin("POST /api/sunset/resume", { body: { by: "Ann", stage: "first" } });
    expect((await gateway.request(LIST)).status).toBe(500);
  });

  test("of invented tokens pauses nothing", async () => {
    await startRecording(BROWN_OUT);
    moveTo("2026-06-01T10:30:00Z");
    for (let request = 0; request < 150; request += 1) await gateway.request(LIST, { as: "invented" });
    expect((await planStatus()).pauses).toEqual([]);
  });
});

describe("a freeze", () => {
  const FREEZE = "stages: [{ freeze: 2026-06-02, text: New applications use the new interface. }]\n";

  test("refuses only clients that never used alpha", async () => {
    await startRecording(LINKS + FREEZE);
    expect((await gateway.request(LIST)).status).toBe(200);
    moveTo("2026-06-02T00:00:03Z");
    expect((await gateway.request(LIST)).status).toBe(200);
    gateway.takeV4Requests();
    const { status, body, headers } = await gateway.request(LIST, { as: "other" });
    expect(status).toBe(403);
    expect(body).toEqual({
      errors: [
        {
          reason:
            "Error: this interface is being retired and accepts no new clients. New applications use the new " +
            "interface. See https://example.com/policy",
        },
      ],
    });
    expect(headers.get("x-sunset-code")).toBe("freeze");
    // V4 is asked about the token, and does not get the request.
    expect(gateway.takeV4Requests()).toMatchObject([{ method: "GET", path: "/v4/profile" }]);
    expect((await gateway.request(LIST, { as: "other" })).status).toBe(403);
    expect(gateway.takeV4Requests()).toEqual([]);
    expect(await metric('alpha_gateway_refusals_total{reason="freeze",status="403"}')).toBe(2);
  });

  test("refuses a token that v4 does not accept, about which v4 is asked once", async () => {
    await startRecording(FREEZE);
    moveTo("2026-06-02T00:00:03Z");
    for (const call of [LIST, "POST /vm/instances", LIST]) {
      const { status, text } = await gateway.request(call, { as: "invented" });
      expect([status, text]).toEqual([403, expect.stringContaining("accepts no new clients")]);
    }
    expect(gateway.takeV4Requests()).toMatchObject([{ method: "GET", path: "/v4/profile" }]);
  });

  test("lets in a client that only read catalogs before, and that v4 accepts", async () => {
    await startRecording(FREEZE);
    const read = (as: string) => gateway.request("GET /datacenters", { as });
    for (const as of ["full", "invented"]) expect((await read(as)).status).toBe(200);
    for (const result of ["accepted", "refused"])
      await waitFor(async () => (await metric(`alpha_gateway_token_checks_total{result="${result}"}`)) === 1);
    moveTo("2026-06-02T00:00:03Z");
    expect((await read("full")).status).toBe(200);
    expect((await read("invented")).status).toBe(403);
  });

  test("needs the audit: without it the gateway does not start", async () => {
    await expect(startWith(FREEZE, { AUDIT: "off" })).rejects.toThrow(
      "a freeze needs the audit, which knows who called before",
    );
    gateway = await startGateway();
  });

  test("lets in another token that the entry of a known one lists", async () => {
    const directory = clientsFile("reports: {}");
    await startRecording(FREEZE, { CLIENTS_FILE: directory });
    expect((await gateway.request(LIST)).status).toBe(200);
    moveTo("2026-06-02T00:00:03Z");
    const { full, other } = gateway.sandbox.tokens;
    const tokens = [full, other].map((token) => `"${fingerprint(tokenHash(token))}"`);
    writeFileSync(directory, `reports: { tokens: [${tokens.join(", ")}] }`);
    await gateway.reload();
    expect((await gateway.request(LIST, { as: "other" })).status).toBe(200);
  });

  test("lets in nobody by a user agent, which anybody can send, and who is allowed by that name", async () => {
    const CLIENTS_FILE = clientsFile(
      `reports: { user_agents: ["reports/*"] }\nscripts: { user_agents: ["curl/*"] }`,
    );
    await startRecording(`${FREEZE}allow: { scripts: 2026-09-01 }\n`, { CLIENTS_FILE });
    const statusOf = async (as: string, agent: string): Promise<number> =>
      (await gateway.request(LIST, { as, headers: { "user-agent": agent } })).status;
    expect([await statusOf("full", "reports/1"), await statusOf("full", "curl/8")]).toEqual([200, 200]);
    moveTo("2026-06-02T00:00:03Z");
    expect([await statusOf("other", "reports/1"), await statusOf("other", "curl/8")]).toEqual([403, 200]);
  });

  test.each<[string, Record<string, string>]>([
    ["another label", { "x-client": "acme-eu" }],
    ["no label", {}],
  ])("lets in a token that called before, and comes with %s now", async (_, headers) => {
    await startRecording(FREEZE, { CLIENT_HEADER: "X-Client", TRUST_PROXY: "127.0.0.0/8,::1" });
    expect((await gateway.request(LIST, { headers: { "x-client": "acme" } })).status).toBe(200);
    moveTo("2026-06-02T00:00:03Z");
    expect((await gateway.request(LIST, { as: "other", headers })).status).toBe(403);
    expect((await gateway.request(LIST, { headers })).status).toBe(200);
  });

  test("refuses a client that used v4 alone", async () => {
    await startRecording(FREEZE);
    const authorization = `Bearer ${gateway.sandbox.tokens.full}`;
    expect((await gateway.request(LIST, { as: null, headers: { authorization } })).status).toBe(200);
    moveTo("2026-06-02T00:00:03Z");
    expect((await gateway.request(LIST)).status).toBe(403);
  });
});

describe("the end", () => {
  test("is for a client that came before under its name, even after a restart, without reading the store", async () => {
    await startRecording("end: 2026-07-01\n", { DATA_DIR: folder });
    expect((await gateway.request(LIST)).status).toBe(200);
    const [{ client }] = await gateway.readAudit();
    await gateway.stop();
    moveTo("2026-07-01T00:00:03Z");
    await startRecording("end: 2026-07-01\n", { DATA_DIR: folder });
    for (const as of ["full", "invented"]) expect((await gateway.request(LIST, { as })).status).toBe(410);
    expect(gateway.takeV4Requests()).toEqual([]);
    const { body } = await gateway.requestAdmin(`GET /api/usage/routes?client=${client.fingerprint}`);
    expect(body.routes).toMatchObject([
      { status: 200, requests: 1 },
      { status: 410, requests: 1 },
    ]);
  });

  test("is 410 with the link, and who still comes is recorded as a client", async () => {
    await startRecording(`${LINKS}end: 2026-07-01\n`);
    expect((await gateway.request(LIST)).status).toBe(200);
    moveTo("2026-07-01T00:00:03Z");
    const { status, body, headers } = await gateway.request(LIST);
    expect(status).toBe(410);
    expect(body).toEqual({
      errors: [{ reason: "Error: this interface has ended. See https://example.com/policy" }],
    });
    expect(headers.get("x-sunset-code")).toBe("sunset");
    expect(headers.get("sunset")).toBe("Wed, 01 Jul 2026 00:00:00 GMT");
    expect(headers.get("link")).toMatch(/<\/v4\/vm\/instances\S*>; rel="successor-version"$/);
    const [record] = await gateway.readAudit();
    expect(record).toMatchObject({
      alpha: { status: 410 },
      client: { accepted: true },
      rejectedBy: "sunset",
    });
  });
});

describe("a field brown-out", () => {
  const FIELD = (field: string): string =>
    `stages: [{ name: hide, field: ${field}, brown_out: "0 10 * * 1", for: 1h, from: 2026-05-01 }]\n`;

  test("leaves a field out of objects and lists, and says so in a header", async () => {
    await startWith(FIELD("instance.label"));
    const before = await gateway.request(LIST);
    const { vms } = before.body;
    expect(vms[0]).toHaveProperty("label");
    expect(before.headers.get("x-field-brown-out")).toBeNull();
    moveTo("2026-06-01T10:30:00Z");
    const list = await gateway.request(LIST);
    expect(list.headers.get("x-field-brown-out")).toBe("instance.label");
    const withoutLabel = ({ label: _label, ...others }: Record<string, unknown>) => others;
    expect(list.body).toEqual({ ...before.body, vms: vms.map(withoutLabel) });
    const one = await gateway.request(`GET /vm/instances/${vms[0].id}`);
    expect(one.body).not.toHaveProperty("label");
    expect(one.body).toHaveProperty("group");
    expect(await metric('alpha_gateway_sunset_requests_total{stage="hide",kind="field"}')).toBe(2);
  });

  test("leaves a nested field out, and nothing out of other objects", async () => {
    await startWith(FIELD("instance.alerts.cpu"));
    moveTo("2026-06-01T10:30:00Z");
    const { body } = await gateway.request(LIST);
    expect(body.vms[0].alerts).not.toHaveProperty("cpu");
    expect(body.vms[0].alerts).toHaveProperty("io");
    const other = await gateway.request("GET /datacenters");
    expect(other.headers.get("x-field-brown-out")).toBeNull();
  });
});

describe("the headers of a plan", () => {
  const reported = async (call: string): Promise<(string | null)[]> => {
    const { headers } = await gateway.request(call);
    return ["deprecation", "sunset", "link"].map((name) => headers.get(name));
  };

  test("are sent with each alpha response, errors too, with the call of v4 where there is one", async () => {
    await startWith(`${LINKS}end: 2027-06-30\n`);
    const links =
      '<https://example.com/guide>; rel="deprecation", <https://example.com/policy>; rel="sunset"';
    const common = [`@${Date.UTC(2026, 0, 1) / 1000}`, "Wed, 30 Jun 2027 00:00:00 GMT"];
    expect(await reported(LIST)).toEqual([
      ...common,
      expect.stringMatching(/^.*; rel="sunset", <\/v4\/\S+>; rel="successor-version"$/),
    ]);
    expect(await reported("POST /vm/instances")).toEqual([
      ...common,
      `${links}, </v4/vm/instances>; rel="successor-version"`,
    ]);
    expect(await reported("GET /nothing")).toEqual([...common, links]);
  });
});

describe("the stop button", () => {
  test("stops all stages, with who and when, and only a person lets them continue", async () => {
    await startWith(BROWN_OUT);
    moveTo("2026-06-01T10:30:00Z");
    expect((await gateway.request(LIST)).status).toBe(500);
    const paused = await gateway.requestAdmin("POST /api/sunset/pause", {
      body: { by: "Ann", reason: "a customer called" },
    });
    expect(paused.status).toBe(200);
    expect(paused.body.plan.pauses).toEqual([
      { stage: null, by: "Ann", at: "2026-06-01T10:30:00.000Z", reason: "a customer called" },
    ]);
    expect((await gateway.request(LIST)).status).toBe(200);
    moveTo("2026-06-08T10:30:00Z");
    expect((await gateway.request(LIST)).status).toBe(200);
    const resumed = await gateway.requestAdmin("POST /api/sunset/resume", { body: { by: "Bob" } });
    expect(resumed.body.plan.pauses).toEqual([]);
    expect(resumed.body.plan.events.map(({ action, by }: Record<string, string>) => [action, by])).toEqual([
      ["resume", "Bob"],
      ["pause", "Ann"],
    ]);
    expect((await gateway.request(LIST)).status).toBe(500);
  });

  test("refuses orders without a person, and of unknown members and stages", async () => {
    await startWith(BROWN_OUT);
    for (const [body, status] of [
      [{}, 400],
      [{ by: "" }, 400],
      [{ by: "a\nb" }, 400],
      [{ by: "Ann", until: "tomorrow" }, 400],
      [{ by: "Ann", stage: "no such stage" }, 404],
    ] as const) {
      const refused = await gateway.requestAdmin("POST /api/sunset/pause", { body });
      expect([body, refused.status]).toEqual([body, status]);
    }
    expect((await planStatus()).pauses).toEqual([]);
  });

  test("does not exist without a plan, nor do its headers", async () => {
    gateway = await startGateway();
    const { headers } = await gateway.request(LIST);
    expect(["deprecation", "sunset", "link"].map((name) => headers.get(name))).toEqual([null, null, null]);
    expect((await gateway.requestAdmin("POST /api/sunset/pause", { body: { by: "Ann" } })).status).toBe(404);
    expect((await gateway.requestAdmin("GET /api/sunset")).body).toEqual({ plan: null });
  });
});

describe("a changed plan", () => {
  test("is used after a reload; one that shortens a published date is not", async () => {
    const file = await startWith("end: 2026-07-01\n");
    const sunset = async () => (await gateway.request(LIST)).headers.get("sunset");
    writeFileSync(file, "announced: 2026-01-01\nend: 2026-08-01\n");
    await gateway.reload();
    expect(await sunset()).toBe("Sat, 01 Aug 2026 00:00:00 GMT");
    writeFileSync(file, "announced: 2026-01-01\nend: 2026-07-15\n");
    await gateway.reload();
    expect(await sunset()).toBe("Sat, 01 Aug 2026 00:00:00 GMT");
    expect(await metric("alpha_gateway_sunset_file_last_reload_successful")).toBe(0);
  });

  test("follows the ends of the client directory", async () => {
    const directory = clientsFile(`reports: { user_agents: ["reports/*"], ends: 2026-09-01 }`);
    await startWith("end: 2026-07-01\n", { CLIENTS_FILE: directory });
    const sunset = async () =>
      (await gateway.request(LIST, { headers: { "user-agent": "reports/1" } })).headers.get("sunset");
    expect(await sunset()).toBe("Tue, 01 Sep 2026 00:00:00 GMT");
    writeFileSync(directory, `reports: { user_agents: ["reports/*"], ends: 2026-10-01 }`);
    await gateway.reload();
    expect(await sunset()).toBe("Thu, 01 Oct 2026 00:00:00 GMT");
  });
});

describe("a client with a date of its own that gets another name", () => {
  const named = (name: string, more = ""): string => `${name}: { user_agents: ["reports/*"]${more} }\n`;
  const ENDS = ", ends: 2026-09-01";
  const ENDS_FOR_ALL = "end: 2026-07-01\n";
  const allowing = (name: string): string => `${ENDS_FOR_ALL}allow: { ${name}: 2026-09-01 }\n`;
  const ending = (name: string): string =>
    `end: 2026-12-01\nstages: [{ end: 2026-09-01, clients: [${name}] }]\n`;

  /** The status of the client after the end for all, and its own end. */
  async function afterTheEnd(): Promise<(number | string | null)[]> {
    moveTo("2026-07-02T00:00:00Z");
    const { status, headers } = await gateway.request(LIST, { headers: { "user-agent": "reports/1" } });
    return [status, headers.get("sunset")];
  }
  const SERVED = [200, "Tue, 01 Sep 2026 00:00:00 GMT"];

  const areInForce = async () => [
    await metric("alpha_gateway_clients_file_last_reload_successful"),
    await metric("alpha_gateway_sunset_file_last_reload_successful"),
  ];

  test.each([
    ["in the client directory", () => ENDS_FOR_ALL, ENDS],
    ["in allow", allowing, ""],
    ["in a stage", ending, ""],
  ])("keeps name and date until that is announced: %s", async (_where, planOf, more) => {
    const CLIENTS_FILE = clientsFile(named("reports", more));
    const file = await startWith(planOf("reports"), { CLIENTS_FILE, DATA_DIR: folder });
    writeFileSync(CLIENTS_FILE, named("statistics", more));
    await gateway.reload();
    writeFileSync(file, `announced: 2026-01-01\n${planOf("statistics")}`);
    await gateway.reload();
    expect(await areInForce()).toEqual([0, 0]);
    expect(await afterTheEnd()).toEqual(SERVED);

    const flags = [`--sunset-file=${file}`, `--clients-file=${CLIENTS_FILE}`, `--data-dir=${folder}`];
    expect(await runCommandLine(["sunset", "announce", ...flags])).toBe(0);
    await waitFor(async () => (await areInForce()).every((value) => value === 1));
    expect(await afterTheEnd()).toEqual(SERVED);
  });
});
