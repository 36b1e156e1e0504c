/** Another tokens file while requests are served, as a process. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "./program.ts";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { readMetric } from "../chaos/admin-client.ts";

const LONG = 120_000;
const [FIRST, SECOND, UPSTREAM] = ["k_first-0123456789", "k_second-0123456789", "u_secret-0123456789"];
const METRIC = "upstream_tokens_last_reload_successful";

let service: FakeV4;
let pack: ReturnType<typeof writeSmallPack>;
beforeEach(async () => {
  service = await startFakeV4();
  service.respondWith(json(200, { id: 7, name: "Waves" }));
  pack = writeSmallPack({
    client: { credentials: { scheme: "Key" } },
    upstream: { credentials: { scheme: "Bearer", token: "table" } },
  });
});

const statusOf = async ({ url }: Serving, token: string): Promise<number> => {
  const headers = { authorization: `Key ${token}` };
  return (await fetch(`${url}/books/7`, { headers })).status;
};

async function waitForStatus(gateway: Serving, token: string, status: number): Promise<void> {
  while ((await statusOf(gateway, token)) !== status) await wait(20);
}

test(
  "a changed tokens file is read without a signal, an invalid one is rejected, and no token is logged",
  async () => {
    const folder = temporaryFolder();
    const file = join(folder, "tokens.yaml");
    writeFileSync(file, `${FIRST}: ${UPSTREAM}\n`);
    const gateway = await serve(folder, {
      env: { UPSTREAM_URL: service.url, MAPPINGS_DIR: pack, UPSTREAM_TOKENS_FILE: file },
    });
    await waitForStatus(gateway, FIRST, 200);
    await waitForStatus(gateway, SECOND, 401);

    writeFileSync(`${file}.new`, `${SECOND}: ${UPSTREAM}\n`);
    renameSync(`${file}.new`, file);
    await waitForStatus(gateway, SECOND, 200);
    await waitForStatus(gateway, FIRST, 401);

    writeFileSync(file, `${FIRST}: "${UPSTREAM}\n`);
    gateway.signal("SIGHUP");
    while ((await readMetric(gateway.admin, METRIC)) !== 0) await wait(50);
    await waitForStatus(gateway, SECOND, 200);

    gateway.signal("SIGTERM");
    const { code, out, err } = await gateway.ended;
    expect(code).toBe(0);
    expect(err).toContain('"code":"AG_UPSTREAM_TOKENS_RELOAD_FAILED"');
    for (const token of [FIRST, SECOND, UPSTREAM]) expect(out + err).not.toContain(token);
  },
  LONG,
);
