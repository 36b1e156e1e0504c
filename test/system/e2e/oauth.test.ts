/** An application of alpha's days and its user: a real browser, a gateway that runs as a process, and the sandbox's login server. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { chromium, type Browser } from "playwright-core";
import { describeWith } from "../../support/services.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "./program.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const describe = await describeWith("chromium");

describe("signing in with a browser", () => {
  let gateway: Serving;
  let token: string;
  let browser: Browser;
  let server: Server;
  let callback: string;

  beforeAll(async () => {
    gateway = await serve(temporaryFolder());
    [, token = ""] = await gateway.waitForOutput(/^Token +(\S+)$/m);
    server = createServer((request, response) => response.end(`Thanks: ${request.url ?? ""}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  }, 60_000);

  const alpha = (path: string, init: RequestInit = {}, as = token): Promise<Response> =>
    fetch(gateway.url + path, {
      ...init,
      headers: { authorization: `token ${as}`, "content-type": "application/json" },
    });

  async function registered(): Promise<{ id: string; secret: string }> {
    const body = JSON.stringify({ name: "status board", redirect_uri: callback });
    return (await (await alpha("/v4/account/clients", { method: "POST", body })).json()) as {
      id: string;
      secret: string;
    };
  }

  async function exchanged(
    client: { id: string; secret: string },
    code: string,
  ): Promise<{ scopes: string; access_token: string }> {
    const body = new URLSearchParams({ client_id: client.id, client_secret: client.secret, code });
    const response = await fetch(`${gateway.url}/oauth/token`, { method: "POST", body });
    return (await response.json()) as { scopes: string; access_token: string };
  }

  test.each([true, false])(
    "A-145 A-147 L-22 authorize, consent, code, token, alpha request; scripts allowed: %s",
    async (javaScriptEnabled) => {
      const client = await registered();
      const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
      const violations: string[] = [];
      page.on("console", (message) => message.type() === "error" && violations.push(message.text()));
      const query = new URLSearchParams({
        client_id: client.id,
        scopes: "vms:modify,dnszones:view",
        state: "a+b %/=",
      });
      await page.goto(`${gateway.url}/oauth/authorize?${query.toString()}`);
      expect(await page.getByRole("heading").textContent()).toBe("Let status board in?");
      expect(await page.getByLabel("vms").inputValue()).toBe("vms:read_write");
      await page.getByLabel("Sign in as").selectOption("ops-anna");
      await page.getByLabel("domains").selectOption("");
      await page.getByRole("button", { name: "Allow" }).click();
      await page.waitForURL(`${callback}?**`);
      expect(violations).toEqual([]);

      const back = new URL(page.url()).searchParams;
      expect(back.get("state")).toBe("a+b %/=");
      expect([back.get("username"), back.get("email")]).toEqual(["ops-anna", "anna@example.net"]);

      const given = await exchanged(client, back.get("code") ?? "");
      expect(given.scopes).toBe("vms:modify");
      const list = await alpha("/v4/vm/instances", {}, given.access_token);
      expect(await list.json()).toMatchObject({ vms: expect.any(Array), page: 1 });
      const removal = await alpha("/v4/vm/instances/5201", { method: "DELETE" }, given.access_token);
      expect(removal.status).toBe(403);
      expect((await alpha("/v4/dns/zones", {}, given.access_token)).status).toBe(403);
    },
    60_000,
  );

  test("a user who denies access redirects the application without a code", async () => {
    const client = await registered();
    const page = await browser.newPage();
    await page.goto(`${gateway.url}/oauth/authorize?client_id=${client.id}&scopes=*&state=s`);
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(`${callback}?**`);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      error: "access_denied",
      error_description: expect.any(String),
      state: "s",
    });
  }, 60_000);
});

test("the URL that the gateway prints leads to the consent page", async () => {
  const gateway = await serve(temporaryFolder());
  const [, address = ""] = await gateway.waitForOutput(/^OAuth +(\S+)/m);
  const response = await fetch(address);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("inventory tool")]);
});
