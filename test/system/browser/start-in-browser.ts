import { beforeAll } from "@jest/globals";
import type { Browser, BrowserContextOptions } from "playwright-core";
import type { ListeningGateway } from "../../support/gateway.ts";
import { LONG_MS, openBrowser, openConsole, type Console } from "./console-page.ts";

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
    async show(hash: string, width?: number): Promise<Console> {
      const shown = await openConsole(browser, gateway, width);
      await shown.open(hash);
      return shown;
    },
    /** Opens a window without a view. */
    openWindow: (width?: number, options?: BrowserContextOptions) =>
      openConsole(browser, gateway, width, options),
  };
}
