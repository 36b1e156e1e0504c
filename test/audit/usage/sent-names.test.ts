/** Which names of a route a client sent: counted for each client and day. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { assert, asyncProperty, constantFrom, option, record } from "fast-check";
import { RECORDING, startGateway, type Gateway, type GatewayRequest } from "../../support/gateway.ts";

const filter = (value: unknown): GatewayRequest => ({
  headers: { "x-filter": typeof value === "string" ? value : JSON.stringify(value) },
});

/** A request, and the names that are counted for it. */
const CASES: readonly (readonly [what: string, call: string, options: GatewayRequest, names: string[]])[] = [
  [
    "members and words of a body",
    "POST /dns/zones",
    { body: { dnszone: "a.example", type: "master", soa_email: "a@a.example", unknown: 1 } },
    ["body.dnszone", "body.soa_email", "body.type", "body.type=master"],
  ],
  [
    "an invalid body",
    "POST /dns/zones",
    { body: { type: "nothing", dnszone: null } },
    ["body.dnszone", "body.type"],
  ],
  ["parameters that the pack names", "GET /vm/instances?page=2&unknown=1", {}, ["query.page"]],
  [
    "fields and words of a filter, in groups",
    "GET /datacenters",
    filter({ "+or": [{ label: "a" }, { id: "newark" }] }),
    ["filter.id", "filter.id=newark", "filter.label"],
  ],
  ["the field of an order", "GET /vm/instances", filter({ "+order_by": "label" }), ["filter.label"]],
  ["no name of a filter that is not JSON", "GET /vm/instances", filter("not JSON"), []],
  ["no name of a body that is not JSON", "POST /dns/zones", { raw: "not JSON" }, []],
  [
    "no name of a request that its token may not send",
    "POST /dns/zones",
    { as: "readOnly", body: { type: "master" } },
    [],
  ],
];

const sentOf = async (gateway: Gateway): Promise<{ client: string; route: string; name: string }[]> =>
  (await gateway.requestAdmin("GET /api/usage/sent")).body.sent;

test.each(CASES)("%s are counted", async (_, call, options, names) => {
  const gateway = await startGateway(RECORDING);
  await gateway.request("GET /vm/instances");
  await gateway.request(call, options);
  expect((await sentOf(gateway)).map(({ name }) => name).toSorted()).toEqual(names);
});

describe("compared with a scan of all recorded requests", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway(RECORDING);
  });

  const MEMBERS = {
    dnszone: ["a.example", 7],
    type: ["master", "slave", "nothing"],
    soa_email: ["a@a.example", null],
    description: ["text"],
    refresh_sec: [300, "300"],
    status: ["active", "disabled"],
    master_ips: [["192.0.2.1"], []],
    display_group: ["", "group"],
  };
  const TOKENS = ["full", "readOnly", "invented-token"];

  /** A subset of some members, each with one of its values. */
  const subset = (members: Readonly<Record<string, readonly unknown[]>>) =>
    record(
      Object.fromEntries(Object.entries(members).map(([name, values]) => [name, constantFrom(...values)])),
      { requiredKeys: [] },
    );
  const requests = record({
    as: constantFrom(...TOKENS),
    body: option(subset(MEMBERS)),
    filter: option(subset({ label: ["a", "b"], datacenter: ["newark"], group: ["g"] })),
  });

  /** All names that the records have, without words: of clients whose tokens v4 has accepted. */
  async function scan(): Promise<string[]> {
    const found = new Set<string>();
    const { records } = (await gateway.requestAdmin("GET /api/audit?limit=500")).body;
    for (const { client, alpha } of records) {
      if (!client.accepted) continue;
      const add = (kind: string, names: object): void => {
        for (const name of Object.keys(names))
          found.add(`${client.fingerprint} ${alpha.route} ${kind}.${name}`);
      };
      // A request that was rejected by its head has no body in its record.
      if (alpha.body !== undefined) add("body", alpha.body);
      if (alpha.filter !== null && alpha.status === 200) add("filter", JSON.parse(alpha.filter));
    }
    return [...found].toSorted();
  }

  test("not one client, route or name is missing, and there is no other", async () => {
    await assert(
      asyncProperty(requests, async ({ as, body, filter: fields }) => {
        if (body) await gateway.request("POST /dns/zones", { as, body });
        if (fields) await gateway.request("GET /vm/instances", { as, ...filter(fields) });
      }),
      { numRuns: 40 },
    );
    const counted = (await sentOf(gateway))
      .filter(({ name }) => !name.includes("="))
      .map(({ client, route, name }) => `${client} ${route} ${name}`);
    expect(counted.toSorted()).toEqual(await scan());
  });
});
