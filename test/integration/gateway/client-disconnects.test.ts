/** A client that goes away takes with it everything that its request began: no call of v4 goes on or is begun for nobody. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request } from "../../support/request.ts";
import {
  startListeningGatewayWithFakeV4,
  waitFor,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { json, plain, neverRespond, type Responder } from "../../support/fake-v4.ts";

let gateway: ListeningGatewayWithFakeV4;
beforeAll(async () => {
  gateway = await startListeningGatewayWithFakeV4();
});
afterAll(() => gateway.stop());

const page = (number: number, pages: number): Responder =>
  json(200, { data: [], page: number, pages, results: 0 });
const instance = json(200, { id: 7, status: "running", backups: { enabled: true } });

/** Asks, and goes away as soon as v4 has had this many calls. */
async function leaveAfter(calls: number, call: string, body?: unknown): Promise<void> {
  const [method = "", path = ""] = call.split(" ");
  const gone = new AbortController();
  const result = fetch(`${gateway.url}/v4${path}`, {
    method,
    signal: gone.signal,
    headers: { authorization: "token good", "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => "gone");
  await waitFor(() => gateway.v4.calls.length === calls);
  gone.abort();
  expect(await result).toBe("gone");
}

/** Of the newest record, once it is that of this route. */
async function warningsOf(route: string): Promise<string> {
  const record = await waitFor(async () => {
    const newest = await gateway.readLastRecord();
    return newest?.alpha.route === route ? newest : undefined;
  });
  return record.warnings.join();
}

interface Row {
  readonly name: string;
  readonly call: string;
  readonly body?: unknown;
  /** What v4 answers first, */
  readonly answered: readonly Responder[];
  /** and what it leaves without a response then, when the client goes. */
  readonly left: readonly string[];
}

const rows: Row[] = [
  {
    name: "reads besides the call",
    call: "GET /vm/instances/7",
    answered: [instance],
    left: ["GET /v4/vm/instances/7/backups", "GET /v4/vm/instances/7/transfer"],
  },
  {
    name: "the pages of a read besides the call",
    call: "GET /vm/instances/7/configs",
    answered: [page(1, 1), page(1, 3)],
    left: [2, 3].map((number) => `GET /v4/vm/instances/7/disks?page=${number}&page_size=100`),
  },
  {
    name: "a list that is read whole",
    call: "GET /networking/ipv4",
    answered: [page(1, 2)],
    left: ["GET /v4/networking/ips?page=2&page_size=100"],
  },
  {
    name: "the halves of an object",
    call: "GET /account/settings",
    answered: [],
    left: ["GET /v4/account", "GET /v4/account/settings"],
  },
  {
    name: "a read before the call",
    call: "POST /vm/instances/7/disks",
    body: {
      filesystem: "ext4",
      size: 4000,
      label: "one",
      distribution: "vm/debian9",
      root_pass: "a-B-3-d-e-f",
      stackscript: 12,
    },
    answered: [],
    left: ["GET /v4/vm/stackscripts/12"],
  },
  {
    name: "a read that is waited with",
    call: "POST /vm/instances/7/boot",
    body: {},
    answered: [],
    left: ["GET /v4/vm/instances/7"],
  },
  {
    name: "the pause between two such reads",
    call: "POST /vm/instances/7/boot",
    body: {},
    answered: [json(200, { id: 7, status: "provisioning" })],
    left: [],
  },
];

describe("a client's disconnect aborts the v4 request and starts no other", () => {
  test.each(rows)("during $name", async ({ call, body, answered, left }) => {
    const [method = "", path = ""] = call.split(" ");
    const most = answered.length + left.length;
    const [first = neverRespond, ...others] = answered;
    gateway.v4.respondWith(first, ...others, neverRespond);
    await leaveAfter(most, call, body);
    const calls = gateway.v4.calls.slice(answered.length);
    expect(calls.map((made) => `${made.method} ${made.path}`).sort()).toEqual(left);
    for (const { ended: over } of calls) await expect(over).resolves.toBe("broken off");
    const warnings = await warningsOf(`${method} ${path.replace("7", ":id")}`);
    expect(warnings).toMatch(/client_aborted/);
    expect(warnings).not.toMatch(/unforeseen/);
    expect(gateway.v4.calls).toHaveLength(most);
  });
});

test("a client's disconnect is counted and recorded as aborted, not as a 500", async () => {
  const count = async (status: string): Promise<number> => {
    const { text } = await request(gateway.adminUrl, "GET /metrics");
    const line = new RegExp(`^alpha_gateway_requests_total\\{.*status="${status}"\\} (\\d+)`, "gm");
    return [...text.matchAll(line)].reduce((sum, [, value]) => sum + Number(value ?? 0), 0);
  };
  const [aborted, failed] = [await count("aborted"), await count("500")];
  gateway.v4.respondWith(neverRespond);
  await leaveAfter(2, "GET /account/settings");
  await waitFor(async () => (await count("aborted")) === aborted + 1);
  expect(await count("500")).toBe(failed);
  expect((await gateway.readLastRecord()).alpha.status).toBe(499);
});

test("a failed request starts no further v4 request", async () => {
  const held: (() => void)[] = [];
  const hold: Responder = (call, response) => void held.push(() => page(1, 10)(call, response));
  gateway.v4.respondWith(page(1, 10), plain(200, "<html>"), hold);
  expect(await gateway.request("GET /networking/ipv4")).toMatchObject({ status: 500 });
  await waitFor(() => held.length === 7);
  const asked = gateway.v4.calls.slice();
  for (const answer of held) answer();
  await Promise.all(asked.map(({ ended: over }) => over));
  gateway.v4.respondWith(page(1, 1));
  await gateway.request("GET /networking/ipv4");
  expect(gateway.v4.calls.map(({ path }) => path)).toEqual(["/v4/networking/ips?page=1&page_size=100"]);
});
