import { beforeAll } from "@jest/globals";
import type { Browser, BrowserContextOptions } from "playwright-core";
import type { ListeningGateway } from "../../support/gateway.ts";
import { LONG_MS, openBrowser, openConsole, type Console, type Look } from "./console-page.ts";

/** Starts a browser and a gateway before the tests of a file or a `describe`. */
export function startInBrowser(start: () => Promise<ListeningGateway>) {
  let browser: Browser;
  let gateway: ListeningGateway;
  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await start();
  }, LONG_MS);
  return {
    gateway: () => gateway,
    /** Opens a view of the console in a window of its own. */
    async show(hash: string, look?: Look): Promise<Console> {
      const shown = await openConsole(browser, gateway, look);
      await shown.open(hash);
      return shown;
    },
    /** Opens a window without a view. */
    openWindow: (look?: Look, options?: BrowserContextOptions) =>
      openConsole(browser, gateway, look, options),
  };
}
