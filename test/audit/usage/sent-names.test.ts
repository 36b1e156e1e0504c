/** Which names of a route a client sent: counted for each client and day. */
import { expect, test } from "@jest/globals";
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
