/** A client that disconnects aborts all v4 requests of its request, and starts no others. */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { request } from "../../support/request.ts";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { json, plain, neverRespond, type Responder } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() => startListeningGatewayWithFakeV4(RECORDING));

/** A page of a list; a single one is empty. */
const page = (number: number, pages: number): Responder => {
  const data = pages === 1 ? [] : Array.from({ length: 100 }, () => ({}));
  return json(200, { data, page: number, pages, results: pages * data.length });
};
const instance = json(200, { id: 7, status: "running", backups: { enabled: true } });

/**
 * Sends a request, and disconnects once v4 has received this many calls, and the gateway the responses to some.
 *
 * @returns the id of the request
 */
async function leaveAfter(calls: number, call: string, body?: unknown, responses = 0): Promise<string> {
  const id = randomUUID();
  const [method = "", path = ""] = call.split(" ");
  const gone = new AbortController();
  const result = fetch(`${gateway.url}/v4${path}`, {
    method,
    signal: gone.signal,
    headers: { authorization: "token good", "content-type": "application/json", "x-request-id": id },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => "gone");
  await waitFor(() => gateway.v4.calls.length === calls);
  for (const { ended } of gateway.v4.calls.slice(0, responses)) await ended;
  // The gateway reads the end of a response a moment later than v4 has sent it.
  if (responses === calls) await wait(100);
  gone.abort();
  expect(await result).toBe("gone");
  return id;
}

/** The warnings of the record of a request. */
async function warningsOf(id: string): Promise<string> {
  const record = await waitFor(async () => {
    const newest = await gateway.readLastRecord();
    return newest?.requestId === id ? newest : undefined;
  });
  return record.warnings.join();
}

interface Row {
  readonly name: string;
  readonly call: string;
  readonly body?: unknown;
  /** The first responses of v4. */
  readonly firstResponses: readonly Responder[];
  /** The requests that are in flight without a response when the client disconnects. */
  readonly pending: readonly string[];
}

const rows: Row[] = [
  {
    name: "related requests",
    call: "GET /vm/instances/7",
    firstResponses: [instance],
    pending: ["GET /v4/vm/instances/7/backups", "GET /v4/vm/instances/7/transfer"],
  },
  {
    name: "the pages of a related list",
    call: "GET /vm/instances/7/configs",
    firstResponses: [page(1, 1), page(1, 3)],
    pending: [2, 3].map((number) => `GET /v4/vm/instances/7/disks?page=${number}&page_size=100`),
  },
  {
    name: "a list whose pages are all fetched",
    call: "GET /networking/ipv4",
    firstResponses: [page(1, 2)],
    pending: ["GET /v4/networking/ips?page=2&page_size=100"],
  },
  {
    name: "the parts of a merged resource",
    call: "GET /account/settings",
    firstResponses: [],
    pending: ["GET /v4/account", "GET /v4/account/settings"],
  },
  {
    name: "a prerequisite request",
    call: "POST /vm/instances/7/disks",
    body: {
      filesystem: "ext4",
      size: 4000,
      label: "one",
      distribution: "vm/debian9",
      root_pass: "a-B-3-d-e-f",
      stackscript: 12,
    },
    firstResponses: [],
    pending: ["GET /v4/vm/stackscripts/12"],
  },
  {
    name: "a read that polls for a status",
    call: "POST /vm/instances/7/boot",
    body: {},
    firstResponses: [],
    pending: ["GET /v4/vm/instances/7"],
  },
  {
    name: "the pause between two polls",
    call: "POST /vm/instances/7/boot",
    body: {},
    firstResponses: [json(200, { id: 7, status: "provisioning" })],
    pending: [],
  },
];

describe("a client's disconnect aborts the v4 request and starts no other", () => {
  test.each(rows)("during $name", async ({ call, body, firstResponses, pending }) => {
    const most = firstResponses.length + pending.length;
    const [first = neverRespond, ...others] = firstResponses;
    gateway.v4.respondWith(first, ...others, neverRespond);
    const id = await leaveAfter(most, call, body, firstResponses.length);
    const calls = gateway.v4.calls.slice(firstResponses.length);
    expect(calls.map((sent) => `${sent.method} ${sent.path}`).sort()).toEqual(pending);
    for (const { ended: over } of calls) await expect(over).resolves.toBe("broken off");
    const warnings = await warningsOf(id);
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
  for (const respond of held) respond();
  await Promise.all(asked.map(({ ended: over }) => over));
  gateway.v4.respondWith(page(1, 1));
  await gateway.request("GET /networking/ipv4");
  expect(gateway.v4.calls.map(({ path }) => path)).toEqual(["/v4/networking/ips?page=1&page_size=100"]);
});
