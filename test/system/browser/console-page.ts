/** The console as someone sees it: a browser before a real gateway with real traffic. */
import { readFileSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { endsWithTest } from "../../support/ends-with-test.ts";
import type { ListeningGateway } from "../../support/gateway.ts";

const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const ARGUMENTS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking " +
  "--disable-component-update --disable-sync";

/** Starts a browser, which ends with the test. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS.split(" ") });
  endsWithTest(() => browser.close());
  return browser;
}

/** Widths of a window, in pixels: of a screen, and of a phone. */
export const WIDTHS = [1280, 390] as const;

/** For tests that start a browser and a gateway, or open many views. */
export const LONG_MS = 120_000;

export interface Console {
  readonly page: Page;
  /** What the browser complained about since the start. */
  readonly complaints: string[];
  /** Opens a view by its address, `#/clients`, and waits until it is there. */
  open(hash: string): Promise<void>;
  /** Accessibility violations of the current page, in light and in dark colours: rule and elements. */
  violations(): Promise<string[]>;
  /** What is not accessible, does not fit the window, or made the browser complain so far. */
  faults(): Promise<string[]>;
}

/** Opens the console of a gateway in a window of its own, with light colours, which is closed after the test. */
export async function openConsole(
  browser: Browser,
  gateway: ListeningGateway,
  width: number = WIDTHS[0],
  options: BrowserContextOptions = {},
): Promise<Console> {
  const context = await browser.newContext({
    viewport: { width, height: 844 },
    colorScheme: "light",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  endsWithTest(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
  page.on("pageerror", (error) => void complaints.push(String(error)));
  const home = gateway.adminUrl ?? "";
  async function violationsOf(options: object): Promise<string[]> {
    return page.evaluate(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))`,
    );
  }
  async function violations(): Promise<string[]> {
    await page.evaluate(AXE);
    const light = await violationsOf({});
    await page.emulateMedia({ colorScheme: "dark" });
    // Only its colours are another page.
    const dark = await violationsOf({ runOnly: ["color-contrast"] });
    await page.emulateMedia({ colorScheme: "light" });
    return [...light, ...dark.map((text) => `in dark colours: ${text}`)];
  }
  return {
    page,
    complaints,
    async open(hash) {
      // From elsewhere, so that the same address is opened again.
      await page.goto("about:blank");
      await page.goto(`${home}/${hash}`);
      await page.locator("main h1").waitFor();
    },
    violations,
    async faults() {
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      const wide = overflow > 0 ? [`${page.url()} is ${overflow} pixels too wide`] : [];
      return [...(await violations()), ...wide, ...complaints];
    },
  };
}
