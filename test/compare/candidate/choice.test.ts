/** A second pack beside the active one: testers ask for it, and promote and rollback change which of them serves. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { fingerprint, tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { loadFiles } from "../../../src/pack/load/loaded-pack.ts";
import { readPack } from "../../../src/pack/load/load-pack.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { RECORDING, openGateway, type TestGateway, type TestSettings } from "../../support/gateway.ts";
import { captureCommands } from "../../support/command-output.ts";
import { request } from "../../support/request.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { waitForCandidate } from "./wait-for-candidate.ts";

const printed = captureCommands();

let service: FakeV4;
let active: string;
let candidate: string;
let data: string;
beforeEach(async () => {
  service = await startFakeV4();
  service.respondWith(json(200, { id: 7, name: "Emma" }));
  active = writeSmallPack({});
  candidate = writeSmallPack({ book: { fields: { id: "id", heading: "name" } } });
  data = temporaryFolder();
  writeFileSync(
    join(data, "clients.yaml"),
    "ann: { tester: true, user_agents: [ann/*] }\nbob: { user_agents: [bob/*] }\n",
  );
});

async function open(settings: TestSettings = {}): Promise<TestGateway> {
  const gateway = await openGateway({
    UPSTREAM_URL: service.url,
    MAPPINGS_DIR: active,
    CANDIDATE_MAPPINGS_DIR: candidate,
    DATA_DIR: data,
    CLIENTS_FILE: join(data, "clients.yaml"),
    CLIENT_HEADER: "x-client",
    TRUST_PROXY: "127.0.0.1",
    ...settings,
  });
  if (settings["CANDIDATE_MAPPINGS_DIR"] !== "") await waitForCandidate(gateway);
  return gateway;
}

const hashOf = (folder: string): string => loadFiles(readPack(folder), { WORDS: {} }).pack.hash;

/** Asks as a proxy that names the client. */
const ask = (
  gateway: TestGateway,
  pack?: string,
  headers: Readonly<Record<string, string>> = { "x-client": "ann" },
) =>
  request(gateway.app, "GET /books/7", pack === undefined ? {} : { headers: { ...headers, "x-pack": pack } });

const OLD = { id: 7, title: "Emma" };
const NEW = { id: 7, heading: "Emma" };

const metric = async (gateway: TestGateway, name: string): Promise<string | undefined> => {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return new RegExp(`^alpha_gateway_${name} (.+)$`, "m").exec(text)?.[1];
};

describe("X-Pack", () => {
  test("asks for the candidate or for the active pack; the response and the record name it", async () => {
    const gateway = await open(RECORDING);
    const fromCandidate = await ask(gateway, hashOf(candidate));
    expect(fromCandidate.body).toEqual(NEW);
    expect(fromCandidate.headers.get("x-pack")).toBe(hashOf(candidate));
    const fromActive = await ask(gateway, hashOf(active));
    expect(fromActive.body).toEqual(OLD);
    expect(fromActive.headers.get("x-pack")).toBe(hashOf(active));
    const plain = await ask(gateway);
    expect(plain.body).toEqual(OLD);
    expect(plain.headers.get("x-pack")).toBeNull();
    expect((await gateway.readAudit()).map(({ pack }) => pack)).toEqual([
      hashOf(active),
      hashOf(active),
      hashOf(candidate),
    ]);
  });

  test("asked for by somebody else reaches no candidate, and no call of v4", async () => {
    const gateway = await open();
    const others: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      nobody: {},
      "a client whose entry does not say that it may": { "x-client": "bob" },
      "a client that is not in the file": { "x-client": "eve" },
      "anybody with the user agent of a tester": { "user-agent": "ann/1" },
    };
    for (const [who, headers] of Object.entries(others)) {
      service.calls.length = 0;
      const { status, text } = await ask(gateway, hashOf(candidate), headers);
      expect({ who, status, text, calls: service.calls }).toEqual({
        who,
        status: 412,
        text: expect.stringContaining("This gateway has no pack with the hash in X-Pack."),
        calls: [],
      });
      expect([who, (await ask(gateway, hashOf(active), headers)).body]).toEqual([who, OLD]);
    }
  });

  test("asked for with the token of a tester reaches the candidate, in the client's API alone", async () => {
    const token = "secret-token-of-ann";
    const credentials = {
      client: { credentials: { scheme: "token" } },
      upstream: { credentials: { scheme: "Bearer" } },
    };
    const first = writeSmallPack(credentials);
    const second = writeSmallPack({ ...credentials, book: { fields: { id: "id", heading: "name" } } });
    writeFileSync(
      join(data, "clients.yaml"),
      `ann: { tester: true, tokens: ["${fingerprint(tokenHash(token))}"] }\n`,
    );
    const gateway = await open({ MAPPINGS_DIR: first, CANDIDATE_MAPPINGS_DIR: second });
    const askWith = (authorization: string) =>
      request(gateway.app, "GET /books/7", { headers: { authorization, "x-pack": hashOf(second) } });
    expect((await askWith(`token ${token}`)).body).toEqual(NEW);
    expect((await askWith("token another-secret-token")).status).toBe(412);
    expect((await askWith("Bearer another-secret-token")).status).toBe(412);
  });

  test("is what each answer of the client's API varies by", async () => {
    const gateway = await open({ ...RECORDING, MIGRATION_PAGE: "on", PUBLIC_URL: "https://old.example.com" });
    const varyOf = async (call: string, headers: Record<string, string> = {}): Promise<string | null> =>
      (await request(gateway.app, call, { headers })).headers.get("vary");
    expect(await varyOf("GET /books/7")).toContain("X-Pack");
    expect(await varyOf("GET /nowhere")).toContain("X-Pack");
    expect(await varyOf("GET /openapi.json")).toContain("X-Pack");
    expect(await varyOf("GET /books/7", { "x-pack": "0000" })).toContain("X-Pack");
    expect(await varyOf("GET /books/7", { "x-pack": hashOf(candidate) })).toContain("X-Pack");
    const withoutCandidate = await open({ CANDIDATE_MAPPINGS_DIR: "" });
    expect((await ask(withoutCandidate)).headers.get("vary") ?? "").not.toContain("X-Pack");
  });

  test("with another hash is an error that counts against the rate limit, without a call of v4", async () => {
    const gateway = await open({ RATE_LIMIT: "2/900" });
    const refused = await ask(gateway, "0000000000000000");
    expect(refused.status).toBe(412);
    expect(refused.text).toContain("This gateway has no pack with the hash in X-Pack.");
    expect(refused.headers.get("x-pack")).toBeNull();
    expect((await ask(gateway, "")).status).toBe(412);
    expect((await ask(gateway, hashOf(candidate))).status).toBe(429);
    expect(service.calls).toEqual([]);
  });

  test("passes no stage of the plan, and a candidate without a route of the plan is none", async () => {
    const plan = join(data, "plan.yaml");
    const stage = (route: string): string =>
      `announced: 2026-01-01\nstages: [{ name: first, brown_out: "* * * * *", for: 15m, from: 2026-01-01, routes: ["${route}"] }]\n`;
    writeFileSync(plan, stage("GET /books/:id"));
    const gateway = await open({ SUNSET_FILE: plan });
    const [plain, asked] = [await ask(gateway), await ask(gateway, hashOf(candidate))];
    expect(plain.status).toBeGreaterThanOrEqual(500);
    expect([asked.status, asked.body]).toEqual([plain.status, plain.body]);
    const other = writeSmallPack({
      book: { routes: [{ client: "GET /tomes/:id", upstream: "GET /items/{id}" }] },
    });
    const second = await open({ SUNSET_FILE: plan, CANDIDATE_MAPPINGS_DIR: other });
    expect(await metric(second, "candidate_last_reload_successful")).toBe("0");
    expect((await ask(second, hashOf(other))).status).toBe(412);
  });

  test("has no effect without a candidate", async () => {
    const gateway = await open({ CANDIDATE_MAPPINGS_DIR: "" });
    const response = await ask(gateway, hashOf(candidate));
    expect(response.body).toEqual(OLD);
    expect(response.headers.get("x-pack")).toBeNull();
  });
});

describe("a candidate", () => {
  test("that is invalid never concerns the active pack, and the previous one stays", async () => {
    const gateway = await open();
    const before = hashOf(candidate);
    writeFileSync(join(candidate, "other.yaml"), "object: 7\n");
    expect(await gateway.reload()).toBeUndefined();
    expect(await metric(gateway, "candidate_last_reload_successful")).toBe("0");
    expect(await metric(gateway, "pack_last_reload_successful")).toBe("1");
    expect((await ask(gateway)).body).toEqual(OLD);
    expect((await ask(gateway, before)).body).toEqual(NEW);
    writeFileSync(join(candidate, "other.yaml"), "object: other\nfields: {}\n");
    await gateway.reload();
    expect(await metric(gateway, "candidate_last_reload_successful")).toBe("1");
    expect((await ask(gateway, hashOf(candidate))).body).toEqual(NEW);
    expect((await ask(gateway, before)).status).toBe(412);
  });

  test("that could only be activated with a restart is none", async () => {
    const other = writeSmallPack({
      client: { credentials: {} },
      pack: { errors: { client: { list: "problems", reason: "text" } } },
    });
    const gateway = await open({ CANDIDATE_MAPPINGS_DIR: other });
    expect(await metric(gateway, "candidate_last_reload_successful")).toBe("0");
    expect(await metric(gateway, "candidate_offered")).toBe("0");
    expect((await ask(gateway)).body).toEqual(OLD);
  });

  test("that is missing prevents no start", async () => {
    const gateway = await open({ CANDIDATE_MAPPINGS_DIR: join(data, "nowhere") });
    expect((await ask(gateway)).body).toEqual(OLD);
    expect(await metric(gateway, "candidate_last_reload_successful")).toBe("0");
  });
});

type Command = "promote" | "rollback";

/** Runs a command. @returns its exit code */
const run = (command: Command, candidateFolder = candidate): Promise<number> =>
  runCommandLine([
    command,
    `--data-dir=${data}`,
    ...(command === "promote"
      ? [`--mappings-dir=${active}`, `--candidate-mappings-dir=${candidateFolder}`]
      : []),
  ]);

async function waitForBody(gateway: TestGateway, body: object): Promise<void> {
  while (JSON.stringify((await ask(gateway)).body) !== JSON.stringify(body)) await wait(20);
}

describe("promote and rollback", () => {
  test("change the active pack under load without a failed request", async () => {
    const gateway = await open();
    const end = new AbortController();
    const statuses = new Map<number, number>();
    const load = Array.from({ length: 8 }, async () => {
      while (!end.signal.aborted) {
        const { status } = await ask(gateway);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await wait(5);
      }
    });
    for (let round = 0; round < 2; round += 1) {
      await run("promote");
      await waitForBody(gateway, NEW);
      await run("rollback");
      await waitForBody(gateway, OLD);
    }
    end.abort();
    await Promise.all(load);
    expect([...statuses.keys()]).toEqual([200]);
  });

  test("keep the previous pack for testers, and outlive a restart", async () => {
    const gateway = await open();
    expect(await metric(gateway, "pack_promoted")).toBe("0");
    await run("promote");
    await waitForBody(gateway, NEW);
    expect(await metric(gateway, "pack_promoted")).toBe("1");
    while (!(await ask(gateway, hashOf(active))).headers.get("x-pack")) await wait(20);
    await gateway.reload();
    expect((await ask(gateway, hashOf(active))).body).toEqual(OLD);
    await gateway.stop();
    const second = await open();
    expect((await ask(second)).body).toEqual(NEW);
    await run("rollback");
    await waitForBody(second, OLD);
  });

  test("serve the promoted pack until a restart where its folder has another one; then that of MAPPINGS_DIR", async () => {
    const gateway = await open();
    await run("promote");
    await waitForBody(gateway, NEW);
    const file = join(candidate, "book.yaml");
    writeFileSync(
      file,
      "object: book\nlist: books\nfields: { id: id, caption: name }\nroutes: [{ client: GET /books/:id, upstream: 'GET /items/{id}' }]\n",
    );
    await gateway.reload();
    expect((await ask(gateway)).body).toEqual(NEW);
    // The one of the folder can be asked for, and promoted.
    expect((await ask(gateway, hashOf(candidate))).body).toEqual({ id: 7, caption: "Emma" });
    await gateway.stop();
    const second = await open();
    expect((await ask(second)).body).toEqual(OLD);
    expect(await metric(second, "pack_promoted_missing")).toBe("1");
    await run("promote");
    await waitForBody(second, { id: 7, caption: "Emma" });
  });

  test("say why there is nothing to do", async () => {
    expect(await run("promote")).toBe(1);
    expect(printed()).toContain("there is no state store yet");
    const gateway = await open();
    expect(await run("rollback")).toBe(0);
    expect(printed()).toContain("Nothing is promoted");
    expect(await run("promote", active)).toBe(1);
    expect(printed()).toContain("there is nothing to promote");
    expect((await ask(gateway)).body).toEqual(OLD);
  });
});
