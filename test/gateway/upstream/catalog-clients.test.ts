/** Whether a token that only reads catalogs is a client: catalogs are served without a call to v4. */
import { beforeAll, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { waitFor } from "../../support/wait-for.ts";
import { RECORDING, startGateway, type Gateway } from "../../support/gateway.ts";

const dataDir = temporaryFolder();
const settings = { ...RECORDING, DATA_DIR: dataDir };
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway(settings);
});

const clients = async (): Promise<string[]> =>
  (
    (await gateway.requestAdmin("GET /api/usage/clients")).body.clients as {
      client: string;
      requests: number;
      state: string | null;
    }[]
  ).map(({ client, requests, state }) => `${client.replace(/^[0-9a-f]{16}$/, "token")} ${requests} ${state}`);

test("it is once v4 has accepted it, with all that it read before, and again after a restart", async () => {
  const readCatalogs = async (as: string) => {
    for (const call of ["GET /datacenters", "GET /vm/kernels"])
      expect((await gateway.request(call, { as })).status).toBe(200);
  };
  await readCatalogs("readOnly");
  await readCatalogs("made-up");
  const expectClients = (...rows: readonly string[]) =>
    waitFor(async () => JSON.stringify(await clients()) === JSON.stringify(rows));
  await expectClients("token 2 not begun", "unaccepted 2 null");

  await gateway.request("GET /vm/instances", { as: "readOnly" });
  expect(await clients()).toEqual(["token 3 not begun", "unaccepted 2 null"]);

  await gateway.stop();
  gateway = await startGateway(settings);
  await readCatalogs("readOnly");
  await readCatalogs("made-up");
  expect(await clients()).toEqual(["token 5 not begun", "unaccepted 4 null"]);
});
