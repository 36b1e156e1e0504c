/** Who would notice: what the summaries say is compared with a scan of all recorded bodies. Nobody is missed. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { sample, constantFrom, option, record } from "fast-check";
import { namesOfRoutes } from "../../../src/migration/impact/who-would-notice.ts";
import { packIn } from "../../support/packs.ts";
import { startGateway, type Gateway, type TestResponse } from "../../support/gateway.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";

const CLIENTS = 36;
const REQUESTS = 400;
const CREATE = "POST /dns/zones";
const LIST = "GET /vm/instances";

/** A subset of some members, each with one of its values. */
const subset = (members: Readonly<Record<string, readonly unknown[]>>) =>
  record(
    Object.fromEntries(Object.entries(members).map(([name, values]) => [name, constantFrom(...values)])),
    {
      requiredKeys: [],
    },
  );

const CALLS = record({
  client: constantFrom(...Array.from({ length: CLIENTS }, (_, number) => `client-${number}`)),
  body: option(
    subset({
      dnszone: ["a.example", "b.example"],
      type: ["master", "slave", "nothing"],
      soa_email: ["a@a.example"],
      description: ["text"],
      refresh_sec: [300],
      status: ["active", "disabled"],
      master_ips: [["192.0.2.1"]],
      display_group: ["", "group"],
    }),
  ),
  filter: subset({ label: ["a", "b"], datacenter: ["newark"], group: ["g"] }),
  page: option(constantFrom(1, 2)),
});

/** All records, page by page. */
async function readRecords(gateway: Gateway): Promise<TestResponse["body"][]> {
  const records: TestResponse["body"][] = [];
  let before = "";
  do {
    const { body } = await gateway.requestAdmin(`GET /api/audit?limit=100&before=${before}`);
    records.push(...body.records);
    before = body.next ?? "";
  } while (before !== "");
  return records;
}

/** All names of recorded requests, by the client that sent them: `POST /dns/zones body.type=master`. */
async function scanRecords(gateway: Gateway): Promise<Map<string, Set<string>>> {
  const senders = new Map<string, Set<string>>();
  const note = (name: string, client: string) =>
    senders.set(name, (senders.get(name) ?? new Set()).add(client));
  const noteAll = (place: string, values: object, client: string): void => {
    for (const [name, value] of Object.entries(values)) {
      note(`${place}${name}`, client);
      for (const word of [value].flat()) note(`${place}${name}=${word}`, client);
    }
  };
  for (const { client, alpha } of await readRecords(gateway)) {
    note(alpha.route, client.label);
    noteAll(`${alpha.route} body.`, alpha.body ?? {}, client.label);
    noteAll(`${alpha.route} filter.`, JSON.parse(alpha.filter ?? "{}"), client.label);
    noteAll(`${alpha.route} query.`, Object.fromEntries(new URLSearchParams(alpha.query)), client.label);
  }
  return senders;
}

interface Asked {
  readonly route: string;
  readonly field?: string;
  readonly word?: string;
}

for (const [store, describeStore, makeStore] of [
  ["SQLite", describe, async () => undefined],
  ["PostgreSQL", await describeWith("postgres"), makeDatabase],
] as const)
  describeStore(`who would notice, by the summaries in ${store}`, () => {
    let database: TestDatabase | undefined;
    let gateway: Gateway;
    let senders: Map<string, Set<string>>;
    beforeAll(async () => {
      database = await makeStore();
      gateway = await startGateway({
        AUDIT: "full",
        AUDIT_DURABILITY: "strict",
        AUDIT_BODY_LIMIT: "64kb",
        CLIENT_HEADER: "X-Client",
        TRUST_PROXY: "127.0.0.0/8,::1",
        RATE_LIMIT_DEFAULT: "1000000/1h",
        ...(database && { DATABASE_URL: database.url }),
      });
      for (const { client, body, filter, page } of sample(CALLS, { numRuns: REQUESTS, seed: 7 })) {
        const headers = { "x-client": client, "x-filter": JSON.stringify(filter) };
        await (body
          ? gateway.request(CREATE, { headers: { "x-client": client }, body })
          : gateway.request(page === null ? LIST : `${LIST}?page=${page}`, { headers }));
      }
      senders = await scanRecords(gateway);
    }, 120_000);

    const ask = async (asked: Asked): Promise<string[]> => {
      const query = new URLSearchParams({ ...asked });
      const { body } = await gateway.requestAdmin(`GET /api/usage/impact?${query.toString()}`);
      return body.clients.map(({ client }: { client: string }) => client.replace("label:", "")).toSorted();
    };

    test("each route, member, parameter, field and word has exactly the clients that sent it", async () => {
      const names = namesOfRoutes(packIn("mappings"));
      let compared = 0;
      for (const { route, sent } of names.filter((each) => each.route === CREATE || each.route === LIST)) {
        expect({ route, clients: await ask({ route }) }).toEqual({
          route,
          clients: [...(senders.get(route) ?? [])].toSorted(),
        });
        for (const name of sent) {
          const [field = "", word] = name.split("=");
          const clients = await ask({ route, field, ...(word !== undefined && { word }) });
          expect({ name, clients }).toEqual({
            name,
            clients: [...(senders.get(`${route} ${name}`) ?? [])].toSorted(),
          });
          compared += clients.length;
        }
      }
      expect(compared).toBeGreaterThan(REQUESTS);
      expect(senders.get(CREATE)?.size).toBeGreaterThan(CLIENTS / 2);
    });

    test("nobody has sent a filter to a route that clients only call without one", async () => {
      for (let number = 0; number < 14; number += 1)
        await gateway.request("GET /dns/zones", { headers: { "x-client": `client-${number}` } });
      expect(await ask({ route: "GET /dns/zones" })).toHaveLength(14);
      expect(await ask({ route: "GET /dns/zones", field: "display_group" })).toEqual([]);
      const { body } = await gateway.requestAdmin("GET /api/usage/impact?field=filter.display_group");
      expect(body.notices).toMatchObject([{ concern: "senders", isExact: true, clients: [] }]);
    });

    test("of a member of the answers all who call are named, since nobody knows who reads it", async () => {
      const { body } = await gateway.requestAdmin(
        `GET /api/usage/impact?${new URLSearchParams({ route: CREATE, field: "answer.soa_email" }).toString()}`,
      );
      expect(body.notices).toMatchObject([{ name: "answer.soa_email", concern: "readers" }]);
      expect(body.clients).toEqual([]);
      expect(body.readers).toHaveLength(senders.get(CREATE)?.size ?? 0);
    });
  });
