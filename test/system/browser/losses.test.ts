/** What was lost, and who came back, in the console and in the report. */
import { expect, test } from "@jest/globals";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { describeWith } from "../../support/services.ts";
import { LONG_MS, WIDTHS } from "./console-page.ts";
import { startInBrowser } from "./start-in-browser.ts";

const DAY_MS = 86_400_000;
/** A client that moved, and came back. */
const RETURNED = "00000000000000aa";

/** The day some days ago. */
const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);

async function recordReturn(dataDir: string): Promise<void> {
  const store = await openSqliteStore({
    directory: dataDir,
    durability: "strict",
    retentionDays: 400,
    sizeLimit: 1e9,
  });
  const put = (id: string, daysAgo: number, lane: "alpha" | "native") =>
    store.append(sampleRecord(id, { client: RETURNED, lane, time: `${day(daysAgo)}T10:00:00.000Z` }));
  await put("a", 60, "alpha");
  await put("b", 40, "native");
  await put("c", 2, "alpha");
  await store.close();
}

(await describeWith("chromium"))("losses and returns in a browser", () => {
  const { show } = startInBrowser(async () => {
    const dataDir = temporaryFolder();
    await recordReturn(dataDir);
    const gateway = await startListeningGateway({ ...RECORDING, DATA_DIR: dataDir });
    await gateway.request("GET /vm/instances");
    await gateway.request("GET /vm/instances", { as: "readOnly" });
    await gateway.request("PUT /account/profile", { body: { ip_whitelist_enabled: true } });
    const zone = { dnszone: "a.example", type: "master", soa_email: "a@a.example", refresh_sec: 301 };
    await gateway.request("POST /dns/zones", { body: zone });
    return gateway;
  });

  test.each(WIDTHS)(
    "are accessible and fit the window: %i pixels wide",
    async (width) => {
      const { page, open, faults } = await show("#/migration", width);
      for (const view of ["#/migration", "#/clients", `#/clients/${RETURNED}`, "api/report?format=html"]) {
        await open(view);
        for (const details of await page.locator("main details").all())
          if (await details.isVisible()) await details.evaluate((node) => node.setAttribute("open", ""));
        expect(await faults()).toEqual([]);
      }
    },
    LONG_MS,
  );

  test(
    "the heaviest loss comes first, with its clients, and roundings open by mouse and keyboard",
    async () => {
      const { page } = await show("#/migration");
      const section = page.locator("section.losses");
      const weights = await section.locator("> table .tag").allTextContents();
      expect(weights).toEqual(["meaning", ...weights.slice(1).map(() => "detail")]);
      const first = section.locator("> table tbody tr").first();
      expect(await first.textContent()).toContain("ip_whitelist_enabled: it can be switched off only");
      expect(await first.getByRole("link").count()).toBe(1);

      const rounding = section.getByText("refresh_sec: v4 rounds it up to one of its steps");
      expect(await rounding.isVisible()).toBe(false);
      const summary = section.locator("summary");
      expect(await summary.textContent()).toMatch(/^\d+ roundings?, \d+ times?$/);
      await summary.click();
      expect(await rounding.isVisible()).toBe(true);
      await summary.press("Enter");
      expect(await rounding.isVisible()).toBe(false);

      await first.getByRole("link").click();
      await page.getByRole("heading", { name: "What was lost" }).waitFor();
      expect(await section.locator("> table th").allTextContents()).not.toContain("Clients");
    },
    LONG_MS,
  );

  test(
    "a client that came back is named with the day, in the console and in the report",
    async () => {
      const { page, open } = await show("#/clients");
      for (const view of ["#/clients", "#/migration"]) {
        await open(view);
        const row = page.getByRole("row", { name: RETURNED });
        expect(await row.textContent()).toContain(`movingcame back on ${day(2)}`);
      }
      await open(`#/clients/${RETURNED}`);
      expect(await page.locator(".facts").textContent()).toContain(`Came back${day(2)}`);
      await open("api/report?format=html");
      expect(await page.locator("main").textContent()).toContain(`moving came back on ${day(2)}`);
    },
    LONG_MS,
  );
});
