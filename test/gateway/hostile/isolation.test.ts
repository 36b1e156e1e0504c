/** No response contains data of another request, in whatever order v4 responds (jsonata#804, L-29). */
import { expect, test } from "@jest/globals";
import { array, assert, asyncProperty, nat, shuffledSubarray } from "fast-check";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, type Responder } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

// All clients have one address and tokens that v4 has not accepted: their share of the connections must hold all of them.
const gateway = startForTests(() =>
  startGatewayWithFakeV4({
    UPSTREAM_TIMEOUT_MS: "15000",
    UPSTREAM_CONNECTIONS: "512",
  }),
);

const CLIENTS = 100;
const tokenOf = (client: number): string => `client${client}x`;
const GB = 1024 ** 3;

/** Everything that v4 says of a caller bears the caller's number, which it knows by the token alone. */
function say(path: string, client: number): unknown {
  const mine = { id: client, label: `vm-${client}`, group: `group-${client}`, ipv4: [`10.0.0.${client}`] };
  if (path.endsWith("/transfer")) return { used: client * GB };
  if (path.endsWith("/backups")) return { automatic: [], snapshot: { current: backup(client) } };
  if (path.includes("page=")) return envelope([mine, mine]);
  return { ...mine, backups: { enabled: true }, alerts: { cpu: client } };
}

const backup = (client: number) => ({ id: client, label: `backup-${client}`, status: "successful" });

/** Holds all calls until every client has one, then responds in another order. Responds to later calls one by one. */
function inOrder(order: readonly number[]): Responder {
  const held: (() => void)[] = [];
  return (call, response) => {
    const client = Number(/^Bearer client(\d+)x$/.exec(call.headers.authorization ?? "")?.[1]);
    held.push(() => json(200, say(call.path, client))(call, response));
    if (held.length < CLIENTS && gateway.v4.calls.length <= CLIENTS) return;
    for (const index of order) held[index]?.();
    held.splice(0);
  };
}

const asked = [
  (client: number) => ({ call: "GET /vm/instances?page=1", numbers: [client, client] }),
  (client: number) => ({ call: `GET /vm/instances/${client}`, numbers: [client] }),
];

test("L-29 100 concurrent clients with different tokens each get their own responses", async () => {
  const orders = shuffledSubarray(
    Array.from({ length: CLIENTS }, (_, index) => index),
    { minLength: CLIENTS },
  );
  await assert(
    asyncProperty(orders, array(nat(1), { minLength: CLIENTS, maxLength: CLIENTS }), async (order, kinds) => {
      gateway.v4.respondWith(inOrder(order));
      await Promise.all(
        kinds.map(async (kind, client) => {
          const { call, numbers } = asked[kind]?.(client) ?? { call: "", numbers: [] };
          const response = await gateway.request(call, {
            as: tokenOf(client),
            headers: { "x-request-id": `id-${client}` },
          });
          expect(response.headers.get("x-request-id")).toBe(`id-${client}`);
          const objects = response.body.vms ?? [response.body];
          expect(objects.map(({ id }: { id: number }) => id)).toEqual(numbers);
          for (const object of objects) {
            expect(object).toMatchObject({
              label: `vm-${client}`,
              group: `group-${client}`,
              ipv4: [`10.0.0.${client}`],
            });
          }
          const whole = response.body.vms ? {} : response.body;
          expect(whole.total_transfer ?? client).toBe(client);
          expect(whole.backups?.snapshot.id ?? client).toBe(client);
        }),
      );
    }),
    { numRuns: 5 },
  );
});
