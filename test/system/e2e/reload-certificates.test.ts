/** Another client certificate while requests are served, as a process. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { createAuthority, readCertificate, type Certificate } from "../../support/certificates.ts";
import { startTlsSandbox, type TlsSandbox } from "../../support/tls-sandbox.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "./program.ts";

let sandbox: TlsSandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
});

/** Sends requests as both kinds of client until the last connections had this certificate. */
async function waitForClient({ url }: Serving, { v4, tokens }: TlsSandbox, name: string): Promise<void> {
  let same = 0;
  while (same < 10) {
    v4.clients.length = 0;
    for (const scheme of ["token", "Bearer"]) {
      const headers = { authorization: `${scheme} ${tokens.full}`, connection: "close" };
      expect((await fetch(`${url}/v4/vm/instances`, { headers })).status).toBe(200);
    }
    same = v4.clients.length > 0 && v4.clients.every((client) => client === name) ? same + 1 : 0;
    await wait(20);
  }
}

test("changed certificates are used for new connections, invalid ones are rejected", async () => {
  const folder = temporaryFolder();
  const authority = createAuthority(folder, "authority");
  const [first, second] = [authority.sign("first"), authority.sign("second")];
  const used: Certificate = { cert: join(folder, "used.crt"), key: join(folder, "used.key") };
  const install = ({ cert, key }: Certificate): void => {
    copyFileSync(cert, used.cert);
    copyFileSync(key, used.key);
  };
  install(first);
  const server = readCertificate(authority.sign("v4"));
  const ca = readCertificate(authority).cert;
  const running = await startTlsSandbox({ ...server, ca, requestCert: true }, server);
  sandbox = running;
  const gateway = await serve(folder, {
    env: {
      UPSTREAM_URL: running.v4.url,
      UPSTREAM_CA: authority.cert,
      UPSTREAM_CERT: used.cert,
      UPSTREAM_KEY: used.key,
      LOG_LEVEL: "info",
    },
  });
  await waitForClient(gateway, running, "first");

  install(second);
  await waitForClient(gateway, running, "second");

  writeFileSync(used.key, "garbage");
  await gateway.waitForError(/AG_UPSTREAM_TLS_RELOAD_FAILED.*UPSTREAM_KEY/);
  await waitForClient(gateway, running, "second");

  install(first);
  await waitForClient(gateway, running, "first");
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
}, 120_000);
