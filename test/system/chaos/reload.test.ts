/** Another pack while requests are served, as processes: one reference changes, or nothing does. */
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "../e2e/program.ts";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { copyPack, type PackCopy } from "../../support/pack-copy.ts";
import { readMetric } from "./admin-client.ts";
import { startLoad } from "./load.ts";

const LONG = 120_000;
const LIST = json(200, envelope([{ id: 1 }, { id: 2 }, { id: 3 }]), { "x-oauth-scopes": "*" });

let v4: FakeV4;
let pack: PackCopy;
beforeEach(async () => {
  v4 = await startFakeV4();
  v4.respondWith(LIST);
  pack = copyPack();
  pack.says("first");
});

const start = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
  serve(temporaryFolder(), {
    env: { UPSTREAM_URL: v4.url, MAPPINGS_DIR: pack.folder, RATE_LIMIT: "1000000/1", ...env },
  });

/** The words of the pack that a response was made with: more than one where it was made with two. */
async function ask({ url }: Serving): Promise<string> {
  const headers = { authorization: "token good", connection: "close" };
  const response = await fetch(`${url}/v4/vm/instances`, { headers, signal: AbortSignal.timeout(30_000) });
  const { vms } = (await response.json()) as { vms: { group: string; ipv6: string }[] };
  return [...new Set(vms.flatMap(({ group, ipv6 }) => [group, ipv6]))].join(" and ");
}

async function says(gateway: Serving, word: string): Promise<void> {
  while ((await ask(gateway)) !== word) await wait(50);
}

const SUCCESSFUL = "pack_last_reload_successful";

describe("pack reload", () => {
  test(
    "replaces the pack under load: each response comes from one pack, none fails",
    async () => {
      const gateway = await start();
      await says(gateway, "first");
      const load = startLoad(() => ask(gateway), 8);
      for (const word of ["second", "third", "fourth"]) {
        pack.says(word);
        gateway.signal("SIGHUP");
        await load.waitForResponse(word);
      }
      await says(gateway, "fourth");
      expect([...(await load.end())].sort()).toEqual(["first", "fourth", "second", "third"]);
      expect(await readMetric(gateway.admin, SUCCESSFUL)).toBe(1);

      gateway.signal("SIGTERM");
      expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
    },
    LONG,
  );
});

test(
  "a changed file reloads the pack without a signal; a request finishes with the pack that it started with",
  async () => {
    const gateway = await start();
    pack.says("second");
    await says(gateway, "second");
    expect(await readMetric(gateway.admin, SUCCESSFUL)).toBe(1);

    let respond = (): void => {};
    v4.respondWith((call, response) => {
      respond = () => void LIST(call, response);
    }, LIST);
    v4.calls.length = 0;
    const inFlight = ask(gateway);
    while (v4.calls.length === 0) await wait(10);
    pack.says("third");
    gateway.signal("SIGHUP");
    await says(gateway, "third");
    respond();
    expect(await inFlight).toBe("second");
    expect(await ask(gateway)).toBe("third");
  },
  LONG,
);

test(
  "while v4 returns no catalogs, the active pack stays until the new one is complete",
  async () => {
    const gateway = await start();
    v4.setCatalogsAvailable(false);
    pack.says("second");
    gateway.signal("SIGHUP");
    const tried = v4.countCatalogRequests();
    while (v4.countCatalogRequests() < tried + 5) await wait(20);
    expect(await ask(gateway)).toBe("first");
    expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(200);
    v4.setCatalogsAvailable(true);
    await says(gateway, "second");
  },
  LONG,
);
