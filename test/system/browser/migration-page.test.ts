/** The page of a client in a browser: wide and narrow, light and dark, with the credentials that the browser asks for. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser } from "playwright-core";
import { createApplication, REGISTERED } from "../../gateway/oauth/application.ts";
import { RECORDING, startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { describeWith } from "../../support/services.ts";
import { openBrowser, openConsole } from "./console-page.ts";

const LONG_MS = 120_000;

(await describeWith("chromium"))("the page of a client in a browser", () => {
  let browser: Browser;
  let gateway: ListeningGateway;
  let client: { id: string; secret: string };

  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await startListeningGateway({ ...RECORDING, MIGRATION_PAGE: "on" });
    const { body } = await gateway.requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    client = body;
    const { token } = await createApplication(gateway.url, client).token("vms:modify");
    await gateway.request("GET /vm/instances", { as: token, filter: { status: "running" } });
    await gateway.request("GET /vm/instances/1", { as: token });
    await gateway.request("PUT /vm/instances/1", { as: token, body: { label: "one", group: "two" } });
    await gateway.request("POST /feedback", { as: token, body: { description: "three" } });
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test.each([
    { width: 1280, scheme: "light" },
    { width: 1280, scheme: "dark" },
    { width: 390, scheme: "light" },
    { width: 390, scheme: "dark" },
  ] as const)(
    "has no errors, is accessible and fits the window: $width, $scheme",
    async (look) => {
      const page = await openConsole(browser, gateway, look, {
        httpCredentials: { username: client.id, password: client.secret },
      });
      try {
        await page.page.goto(`${gateway.url}/v4/migration`);
        expect(await page.page.locator("h1").textContent()).toBe(
          "Your calls of alpha, and what takes their place",
        );
        expect(await page.page.locator("h3, h4").allTextContents()).toEqual(
          expect.arrayContaining(["GET /vm/instances", "POST /feedback", "instance"]),
        );
        expect(await page.violations()).toEqual([]);
        expect(await page.overflow()).toBe(0);
        // The browser says so about the challenge that it answers.
        expect(page.complaints.filter((text) => !text.includes("401"))).toEqual([]);
      } finally {
        await page.close();
      }
    },
    LONG_MS,
  );
});
