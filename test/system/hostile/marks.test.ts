/** 200 clients at once, in both dialects: no data of one appears in another's response, v4 request or audit record. */
import { expect, test } from "@jest/globals";
import { array, assert, asyncProperty, nat, shuffledSubarray } from "fast-check";
import { RECORDING } from "../../support/gateway.ts";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, type ReceivedRequest, type Responder } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const CLIENTS = 200;

// All clients have one address and tokens that v4 has not accepted: their share of the connections must hold all of them.
const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({
    ...RECORDING,
    UPSTREAM_TIMEOUT_MS: "60000",
    UPSTREAM_CONNECTIONS: "1024",
  }),
);

/** Stands in the token of a client, in its path, filter or body, and in all that v4 says to it. */
const markOf = (client: number): string => `mk${client}x`;
const marksIn = (text: string): string[] => [...new Set(text.match(/mk\d+x/g))];

const objectOf = (mark: string) => ({ id: 7, label: mark, group: mark, tags: [mark], alerts: { cpu: 90 } });

function say({ headers, method, path, received }: ReceivedRequest): unknown {
  const [mark = ""] = marksIn(headers.authorization ?? "");
  if (path.startsWith("/v4/things/")) return { mark, method, echo: received().toString(), path };
  return path.includes("page=") ? envelope([objectOf(mark), objectOf(mark)]) : objectOf(mark);
}

/** Holds the first request of every client, then responds in the given order. Responds to later requests at once. */
function inOrder(order: readonly number[]): Responder {
  const held: (() => void)[] = [];
  let open = false;
  return (call, response) => {
    const respond = () => json(200, say(call))(call, response);
    if (open) {
      respond();
      return;
    }
    held.push(respond);
    if (held.length < CLIENTS) return;
    open = true;
    for (const index of order) held[index]?.();
  };
}

interface Question {
  readonly dialect: "token" | "Bearer";
  readonly method: string;
  readonly path: string;
  readonly filter?: unknown;
  readonly body?: unknown;
}

const KINDS: readonly ((mark: string) => Question)[] = [
  (mark) => ({ dialect: "token", method: "GET", path: "/v4/vm/instances", filter: { label: mark } }),
  () => ({ dialect: "token", method: "GET", path: "/v4/vm/instances/7" }),
  (mark) => ({ dialect: "token", method: "PUT", path: "/v4/vm/instances/7", body: { label: mark } }),
  (mark) => ({ dialect: "Bearer", method: "GET", path: `/v4/things/${mark}` }),
  (mark) => ({ dialect: "Bearer", method: "POST", path: `/v4/things/${mark}`, body: { label: mark } }),
];

async function ask(client: number, { dialect, method, path, filter, body }: Question): Promise<string> {
  const mark = markOf(client);
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `${dialect} ${mark}`,
      "x-request-id": `id-${mark}`,
      ...(filter !== undefined && { "x-filter": JSON.stringify(filter) }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return JSON.stringify([...response.headers]) + text;
}

/** Of the last round, whole. */
async function records(): Promise<{ requestId: string }[]> {
  const page = await fetch(`${gateway.adminUrl}/api/audit?limit=${CLIENTS}`);
  return ((await page.json()) as { records: { requestId: string }[] }).records;
}

test("each client's response, v4 requests and record have only its own mark", async () => {
  const orders = shuffledSubarray(
    Array.from({ length: CLIENTS }, (_, index) => index),
    { minLength: CLIENTS },
  );
  const kinds = array(nat(KINDS.length - 1), { minLength: CLIENTS, maxLength: CLIENTS });
  let rounds = 0;
  await assert(
    asyncProperty(orders, kinds, async (order, kinds) => {
      gateway.v4.respondWith(inOrder(order));
      const responses = await Promise.all(
        kinds.map(async (kind, client) => {
          const question = KINDS[kind]?.(markOf(client));
          return question ? ask(client, question) : "";
        }),
      );
      expect(responses.map(marksIn)).toEqual(responses.map((_, client) => [markOf(client)]));

      const calls = gateway.v4.calls.map(({ path, rawHeaders, received }) =>
        marksIn(path + rawHeaders.join() + received().toString()),
      );
      expect(calls.filter((marks) => marks.length !== 1)).toEqual([]);

      rounds += 1;
      const written = await waitFor(async () => {
        const all = await records();
        return new Set(all.map(({ requestId }) => requestId)).size === CLIENTS ? all : undefined;
      });
      expect(written?.map((record) => marksIn(JSON.stringify(record)))).toEqual(
        written?.map(({ requestId }) => [requestId.replace("id-", "")]),
      );
    }),
    // Requests of a failed round are still held, so that smaller rounds would show nothing.
    { numRuns: 3, endOnFailure: true },
  );
  expect(rounds).toBe(3);
}, 120_000);
