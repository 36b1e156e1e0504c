/** A page of a feature shows each kind of block, as the printed documents do. */
import { expect, test } from "@jest/globals";
import type { Block, Table } from "../../../src/base/blocks/block.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { describeWith } from "../../support/services.ts";
import { WIDTHS } from "./console-page.ts";
import { startInBrowser } from "./start-in-browser.ts";

const TABLE: Table = {
  kind: "table",
  caption: "Clients",
  columns: [{ name: "" }, { name: "client" }, { name: "requests", number: true }],
  rows: [
    ["1", [{ code: "<b>billing</b>" }], "12,345"],
    ["2", "dns", "1"],
  ],
  opened: [{ title: "1 token", of: "token", rows: [["aa", "", "12,345"]] }],
};

const BLOCKS: readonly Block[] = [
  { kind: "heading", level: 2, line: "The state", id: "state" },
  { kind: "figures", figures: [{ value: "98 %", text: "of all requests" }] },
  { kind: "values", values: [["Ends", [{ tag: "planned", tone: "warn" }, " in March"]]] },
  TABLE,
  {
    kind: "chart",
    description: "Requests by day",
    series: [],
    note: "",
    bars: [],
    table: { kind: "table", caption: "Days", columns: [{ name: "day" }], rows: [["2026-03-01"]] },
  },
  { kind: "code", title: "Send it", text: "curl -s\n  http://127.0.0.1" },
  { kind: "list", name: "Stages", items: [{ line: "freeze", items: ["only dns"] }] },
  { kind: "folded", title: "1 change so far", blocks: [{ kind: "text", line: "paused" }] },
];

(await describeWith("chromium"))("the blocks of a page", () => {
  const { openWindow } = startInBrowser(() =>
    startListeningGateway({ ...RECORDING, SUNSET_FILE: writeOperatorFile("announced: 2026-01-01\n") }),
  );

  test.each(WIDTHS)("are all shown, accessible, and fit the window: %i pixels wide", async (width) => {
    const { page, open, faults } = await openWindow(width);
    await page.route("**/api/pages/sunset", (route) =>
      route.fulfill({ json: { status: {}, blocks: BLOCKS } }),
    );
    await open("#/plan");
    expect(await page.getByRole("heading", { level: 2 }).innerText()).toBe("The state");
    const shown = (await page.locator("main").innerText()).replaceAll(/\s+/g, " ");
    for (const text of ["98 %", "planned in March", "<b>billing</b>", "2026-03-01", "Send it", "only dns"])
      expect(shown).toContain(text);
    // Nested rows and folded blocks are shown after a click.
    await page.locator("summary", { hasText: "1 token" }).click();
    await page.getByRole("cell", { name: "aa" }).waitFor();
    await page.getByText("1 change so far").click();
    await page.getByText("paused").waitFor();
    expect(await faults()).toEqual([]);
  });
});
