/** The report of recorded requests under another pack, by route, field and client. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { restoreEnv, setEnv } from "../../support/env.ts";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { RECORDING, openGateway } from "../../support/gateway.ts";
import { request } from "../../support/request.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const printed = captureCommands();

let data: string;
let service: FakeV4;
let active: ReturnType<typeof writeSmallPack>;
let candidate: ReturnType<typeof writeSmallPack>;
beforeEach(async () => {
  data = temporaryFolder();
  service = await startFakeV4();
  const routes = [
    { client: "GET /books/:id", upstream: "GET /items/{id}" },
    { client: "GET /shelves/:id", upstream: "GET /racks/{id}" },
  ];
  const credentials = {
    client: { credentials: { scheme: "token" } },
    upstream: { credentials: { scheme: "Bearer" } },
  };
  active = writeSmallPack({ ...credentials, book: { routes } });
  candidate = writeSmallPack({
    ...credentials,
    book: {
      fields: { id: "id", title: { upstream: "name", read: "$uppercase($value)" } },
      routes: [routes[0], { client: "GET /shelves/:id", upstream: "GET /cases/{id}" }],
    },
  });
});
afterEach(() => {
  restoreEnv();
});

const replay = (...flags: readonly string[]): Promise<number> =>
  runCommandLine(["replay", `--from=${data}`, `--mappings-dir=${active}`, ...flags]);

test("replay ends with the differences by route, field and client, with three examples", async () => {
  const clients = join(data, "clients.yaml");
  writeFileSync(clients, 'Ann: { user_agents: ["ann/*"] }\n');
  setEnv("CLIENTS_FILE", clients);
  const gateway = await openGateway({
    ...RECORDING,
    UPSTREAM_URL: service.url,
    MAPPINGS_DIR: active,
    DATA_DIR: data,
  });
  const headers = { authorization: "token good", "user-agent": "ann/1" };
  for (let id = 1; id <= 5; id += 1) {
    service.respondWith(json(200, { id, name: "Emma" }));
    await request(gateway.app, `GET /books/${id}`, { headers });
  }
  service.respondWith(json(200, { id: 6, name: "EMMA" }));
  await request(gateway.app, "GET /books/6", { headers });
  await request(gateway.app, "GET /shelves/6", { headers });
  await gateway.stop();

  expect(await replay(`--pack=${candidate}`, "--parity")).toBe(1);
  const [summary = "", answer = "", report = ""] = printed().split(/^candidate: /m);
  expect(summary).toMatch(/^\d+ the same.*, \d+ changed/m);
  expect(answer).toBe("more than 0.1 % of the answers differ\n\n");
  expect(report).toMatch(/^GET \/books\/:id$/m);
  expect(report).toMatch(/^ {2}6 comparisons: 1 equal$/m);
  expect(report).toMatch(/^ {2}title \(\w+\): 5, last 20.*, Ann$/m);
  expect(report.match(/^ {4}20\S+ \S+ UTC, GET \/books\/\d, request \S+: "Emma" -> "EMMA"$/gm)).toHaveLength(
    3,
  );
  expect(report).toMatch(/not comparable: calls 1/);
});

test("a client is not counted several times because of the user agents of other clients", async () => {
  const clients = join(data, "clients.yaml");
  const ids = Array.from({ length: 12 }, (_, index) => index + 1);
  writeFileSync(clients, ids.map((id) => `client${id}: { user_agents: ["agent${id}/*"] }\n`).join(""));
  setEnv("CLIENTS_FILE", clients);
  const gateway = await openGateway({
    ...RECORDING,
    UPSTREAM_URL: service.url,
    MAPPINGS_DIR: active,
    DATA_DIR: data,
  });
  for (const id of ids) {
    service.respondWith(json(200, { id, name: "EMMA" }));
    const headers = { authorization: "token good", "user-agent": `agent${id}/1` };
    await request(gateway.app, `GET /books/${id}`, { headers });
  }
  await gateway.stop();

  await replay(`--pack=${candidate}`, "--parity");
  expect(printed()).toContain("0 differ; not enough clients: 1 of 10\n");
});

test("replay compares two packs alone", async () => {
  expect(await replay("--parity")).toBe(1);
  expect(printed()).toContain("name the other one with --pack");
});
