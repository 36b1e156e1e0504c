/** The console as someone sees it: a browser before a real gateway with real traffic. */
import { readFileSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import type { ListeningGateway } from "../../support/gateway.ts";

const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const ARGUMENTS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking " +
  "--disable-component-update --disable-sync";

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS.split(" ") });

export interface Look {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

export interface Console {
  readonly page: Page;
  /** What the browser complained about since the start. */
  readonly complaints: readonly string[];
  /** Opens a view by its address, `#/clients`, and waits until it is there. */
  open(hash: string): Promise<void>;
  /** Accessibility violations of the current page: rule and elements. */
  violations(): Promise<string[]>;
  /** Pixels that the page is wider than the window. */
  overflow(): Promise<number>;
  close(): Promise<void>;
}

/** Opens the console of a gateway in a browser of its own size and taste. */
export async function openConsole(
  browser: Browser,
  gateway: ListeningGateway,
  { width, scheme }: Look = { width: 1280, scheme: "light" },
  options: BrowserContextOptions = {},
): Promise<Console> {
  const context = await browser.newContext({
    viewport: { width, height: 844 },
    colorScheme: scheme,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
  page.on("pageerror", (error) => void complaints.push(String(error)));
  const home = gateway.adminUrl ?? "";
  return {
    page,
    complaints,
    async open(hash) {
      // From elsewhere, so that the same address is opened again.
      await page.goto("about:blank");
      await page.goto(`${home}/${hash}`);
      await page.locator("main h1").waitFor();
    },
    async violations() {
      await page.evaluate(AXE);
      const found = await page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))",
      );
      return found as string[];
    },
    overflow: () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"),
    close: () => context.close(),
  };
}
