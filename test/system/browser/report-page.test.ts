/** The HTML report in a browser: wide and narrow, light and dark. */
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { Browser } from "playwright-core";
import { openBrowser, openConsole, type Console } from "./console-page.ts";
import { sendTraffic } from "../../support/five-clients.ts";
import { RECORDING, startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { describeWith } from "../../support/services.ts";

const LONG_MS = 120_000;

(await describeWith("chromium"))("the report in a browser", () => {
  let browser: Browser;
  let gateway: ListeningGateway;
  let consolePage: Console;

  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await startListeningGateway(RECORDING);
    await sendTraffic(gateway.url, gateway.sandbox.tokens);
  }, LONG_MS);
  afterEach(() => consolePage?.close());
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
      consolePage = await openConsole(browser, gateway, look);
      await consolePage.open("api/report?format=html");
      expect(await consolePage.page.locator("h2").allTextContents()).toEqual(
        expect.arrayContaining(["Clients", "What changes in all calls", "control-panel/1.4"]),
      );
      expect(await consolePage.violations()).toEqual([]);
      expect(await consolePage.overflow()).toBe(0);
      expect(consolePage.complaints).toEqual([]);
    },
    LONG_MS,
  );

  test(
    "is opened from the console, as a whole and for one client",
    async () => {
      consolePage = await openConsole(browser, gateway);
      const { page } = consolePage;
      const opened = async (): Promise<(string | null)[]> => {
        const [report] = await Promise.all([
          page.context().waitForEvent("page"),
          page.getByRole("link", { name: "HTML" }).click(),
        ]);
        await report.locator("main h1").waitFor();
        return report.locator("section.page > h2").allTextContents();
      };
      await consolePage.open("#/migration");
      expect((await opened()).length).toBeGreaterThan(1);
      const row = page.getByRole("row", { name: "control-panel/1.4" });
      await row.getByRole("link").first().click();
      await page.getByText("What it calls").waitFor();
      expect(await opened()).toEqual(["control-panel/1.4"]);
      expect(consolePage.complaints).toEqual([]);
    },
    LONG_MS,
  );
});
