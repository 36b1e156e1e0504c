/** Who calls what, in a browser: rows that open, periods, searches, routes, and the filters of the traffic view. */
import { beforeAll, expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { sendTraffic } from "../../support/five-clients.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { describeWith } from "../../support/services.ts";
import { LONG_MS, WIDTHS } from "./console-page.ts";
import { startInBrowser } from "./start-in-browser.ts";

const today = (): string => new Date().toISOString().slice(0, 10);

(await describeWith("chromium"))("who calls what in a browser", () => {
  const { gateway, show } = startInBrowser(() =>
    startListeningGateway({
      ...RECORDING,
      CLIENTS_FILE: writeOperatorFile('dashboards:\n  user_agents: ["fleet-dashboard/*"]\n'),
    }),
  );
  beforeAll(async () => {
    const { url, sandbox } = gateway();
    const { tokens } = sandbox;
    await sendTraffic(url, tokens);
    // Two more tokens of one program, which calls a route that nobody else calls.
    const others = Object.entries(tokens).filter(
      ([name]) => !["readOnly", "vms", "full", "app"].includes(name),
    );
    for (const [, token] of others)
      for (const authorization of [`token ${token}`, `Bearer ${token}`])
        await fetch(`${url}/v4/vm/types`, { headers: { authorization, "user-agent": "batch/1.0" } });
  }, LONG_MS);

  test.each(WIDTHS)(
    "a row of several tokens opens to them by keyboard, and closes by mouse: %i pixels wide",
    async (width) => {
      const { page, faults } = await show("#/clients", width);
      const open = page.getByRole("button", { name: /^\d+ tokens of agent:batch$/ });
      await open.focus();
      await page.keyboard.press("Enter");
      const tokens = page.getByRole("table", { name: /^Tokens of agent:batch/ });
      await tokens.waitFor();
      expect(await open.getAttribute("aria-expanded")).toBe("true");
      expect(await tokens.locator("tbody tr").count()).toBeGreaterThan(1);
      expect(await faults()).toEqual([]);
      await open.click();
      await tokens.waitFor({ state: "hidden" });
      expect(await open.getAttribute("aria-expanded")).toBe("false");
    },
    LONG_MS,
  );

  test.each(WIDTHS)(
    "a period and a search narrow the clients, and the address keeps them: %i pixels wide",
    async (width) => {
      const { page, faults } = await show("#/clients", width);
      const names = page.locator("td[data-label=Client] > a");
      const all = await names.count();
      await page.getByLabel("Search clients").fill("DASHBOARD");
      await page.getByLabel("Search clients").press("Enter");
      await waitFor(async () => (await names.count()) === 1);
      expect(await names.innerText()).toBe("dashboards");
      await page.getByLabel("Period").selectOption("last 30 days");
      await waitFor(async () => page.url().endsWith("#/clients?days=30&search=DASHBOARD"));
      await page.reload();
      await waitFor(async () => (await names.count()) === 1);
      await page.getByLabel("Period").selectOption("other days");
      await page.getByLabel("Until").fill("2020-01-31");
      await page.getByText("No client matches").waitFor();
      await page.getByLabel("From").fill(today());
      await page.getByLabel("Until").fill(today());
      await waitFor(async () => (await names.count()) === 1);
      expect(await faults()).toEqual([]);
      expect(page.url()).toContain(`from=${today()}&until=${today()}`);
      await page.getByRole("button", { name: "Clear" }).press("Enter");
      await waitFor(async () => (await names.count()) === all);
      expect(page.url()).toMatch(/#\/clients$/);
    },
    LONG_MS,
  );

  test.each(WIDTHS)(
    "a route leads to its clients, and a client to its routes, in the same period: %i pixels wide",
    async (width) => {
      const { page, faults } = await show("#/routes?days=7", width);
      await page.getByText(/\d+ routes, \d+ callers/).waitFor();
      expect(await faults()).toEqual([]);
      await page.getByRole("link", { name: "GET /vm/types", exact: true }).first().click();
      await page.getByRole("heading", { level: 1, name: "GET /vm/types" }).waitFor();
      const callers = page.getByRole("table", { name: "Who calls GET /vm/types" });
      expect(await callers.locator("td[data-label=Client] > a").allInnerTexts()).toContain("batch");
      expect(await faults()).toEqual([]);
      await callers.getByRole("link", { name: "batch" }).click();
      await page.getByRole("heading", { level: 1, name: "agent:batch" }).waitFor();
      expect(page.url()).toContain("days=7");
      const routes = page.getByRole("table", { name: "Routes that this client calls" });
      expect(await routes.locator("td[data-label=Route]").allInnerTexts()).toEqual(["GET /vm/types"]);
      await page.getByLabel("Period").selectOption("last 90 days");
      await waitFor(async () => page.url().includes("days=90"));
      await routes.waitFor();
      expect(await faults()).toEqual([]);
      await page.getByRole("link", { name: "← Clients" }).click();
      await page.getByRole("heading", { level: 1, name: "Clients" }).waitFor();
    },
    LONG_MS,
  );

  test("the migration view has the states and colours of the report, for the same clients", async () => {
    const { page, open } = await show("#/migration");
    const statesOf = async (rows: string): Promise<Record<string, unknown>> => {
      const list = `[...document.querySelectorAll(${JSON.stringify(rows)})]`;
      const state = "row.querySelector('.tag')";
      const script = `Object.fromEntries(${list}.map((row) => [row.querySelector('a').textContent, [${state}.textContent, getComputedStyle(${state}).color]]))`;
      return page.evaluate(script);
    };
    const table = "main table.cards > tbody > tr:has([data-readiness]):not(.inside)";
    const shown = await statesOf(table);
    await page.getByLabel("Search clients").fill("batch");
    await page.getByLabel("Search clients").press("Enter");
    await waitFor(async () => (await page.locator(table).count()) === 1);
    expect(await page.getByRole("link", { name: "HTML" }).getAttribute("href")).toContain("search=batch");
    await open("api/report?format=html");
    const reported = await statesOf("h2 + .table > table > tbody > tr:has(> td:nth-child(2) > .tag)");
    expect(Object.keys(shown).length).toBeGreaterThan(2);
    expect(reported).toMatchObject({ dashboards: shown["dashboards"], batch: shown["batch"] });
  });

  test("the report of a search opens to tokens and callers", async () => {
    const { page, faults } = await show("api/report?format=html&search=batch");
    expect(await page.locator("section.page > h2").allInnerTexts()).toEqual(["batch"]);
    await page
      .getByText(/^\d+ tokens, with their requests of all days$/)
      .first()
      .press("Enter");
    expect(await page.locator(".inside details[open] tbody tr").count()).toBeGreaterThan(1);
    await page.locator("summary", { hasText: "1 caller" }).first().click();
    expect(await page.locator(".inside details[open]").last().innerText()).toContain("batch");
    expect(await faults()).toEqual([]);
  });

  test("the traffic view filters by lane and by name in the store, and exports what it shows", async () => {
    const { page, faults } = await show("#/traffic");
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(request.url()));
    await page.getByLabel("Lane").selectOption("native");
    await waitFor(async () => asked.some((url) => url.includes("lane=native")));
    await page.getByLabel("Client").fill("dashboards");
    await page.getByLabel("Client").press("Enter");
    await page.getByText("No call matches").waitFor();
    await page.getByLabel("Lane").selectOption("alpha");
    await page.locator("tbody tr").first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "NDJSON", exact: true }).click(),
    ]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
    const agents = new Set(lines.map((line) => JSON.parse(line).client.userAgent));
    expect([...agents]).toEqual(["fleet-dashboard/3.2 (python-requests/2.19)"]);
    expect(await faults()).toEqual([]);
  });

  test("the report is opened from the console, as a whole and for one client", async () => {
    const { page, complaints } = await show("#/migration");
    const opened = async (): Promise<(string | null)[]> => {
      const [report] = await Promise.all([
        page.context().waitForEvent("page"),
        page.getByRole("link", { name: "HTML" }).click(),
      ]);
      await report.locator("main h1").waitFor();
      return report.locator("section.page > h2").allTextContents();
    };
    expect((await opened()).length).toBeGreaterThan(1);
    const row = page.getByRole("row", { name: "control-panel/1.4" });
    await row.getByRole("link").first().click();
    await page.getByText("What it calls").waitFor();
    expect(await opened()).toEqual(["control-panel/1.4"]);
    expect(complaints).toEqual([]);
  });
});
