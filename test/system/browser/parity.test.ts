/** What comparisons have found, in the console. */
import { expect, test } from "@jest/globals";
import { Redaction } from "../../../src/audit/redact/redact.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { openComparisons } from "../../../src/compare/counts/comparisons.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { answer, different, equal } from "../../compare/counts/make-compared.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { describeWith } from "../../support/services.ts";
import { LONG_MS, WIDTHS } from "./console-page.ts";
import { startInBrowser } from "./start-in-browser.ts";

const ROUTE = "GET /vm/instances/:id";

async function compare(directory: string): Promise<void> {
  const state = openSqliteKeyValueStore({ directory });
  const comparisons = openComparisons({
    state,
    redaction: () => new Redaction({ names: [], bodyLimit: 65_536 }),
    metrics: { countComparison() {}, countNoRoom() {} },
    log: { info() {}, error() {} } as unknown as Log,
  });
  for (let n = 0; n < 1240; n += 1)
    comparisons.report(equal(`case ${n}`, { route: ROUTE, provenBy: `client ${n % 10}` }));
  comparisons.report(
    different("other", {
      route: "GET /vm/instances",
      differences: [{ field: "vms.label", kind: "value", old: '"one"', new: '"ONE"' }],
      sample: {
        method: "GET",
        path: "/v4/vm/instances",
        filter: null,
        old: answer({
          vms: [
            { id: 1, label: "one" },
            { id: 2, label: "two" },
          ],
        }),
        new: answer({
          vms: [
            { id: 2, label: "two" },
            { id: 1, label: "ONE" },
          ],
        }),
      },
    }),
  );
  await comparisons.close();
  await state.close();
}

(await describeWith("chromium"))("comparisons in a browser", () => {
  const { show } = startInBrowser(async () => {
    const dataDir = temporaryFolder();
    await compare(dataDir);
    return startListeningGateway({ ...RECORDING, DATA_DIR: dataDir });
  });

  test(
    "by route: whether they are enough, and an example with its rows aligned by id",
    async () => {
      const { page, complaints } = await show("#/parity");
      const routes = page.locator("main li", { has: page.locator("ul") });
      const [first, second] = [routes.first(), routes.filter({ hasText: ROUTE })];
      expect(await first.innerText()).toMatch(
        /^GET \/vm\/instances\n(.*\n)*.*vms\.label \(value\): 1, last /,
      );
      expect(await first.innerText()).toContain("too many differ");
      expect(await second.innerText()).toMatch(/not enough: 1,240 of 2,995/);
      await page.getByRole("link", { name: "alpha-gateway parity show" }).click();
      await page.getByRole("heading", { name: "GET /vm/instances" }).waitFor();
      const differing = page.locator("main tbody tr", { hasText: "differs" });
      expect(await differing.allInnerTexts()).toEqual([
        expect.stringMatching(/vms\[id=1\]\.label\s+"one"\s+"ONE"/),
      ]);
      expect(complaints).toEqual([]);
    },
    LONG_MS,
  );

  test.each(WIDTHS)(
    "are accessible and fit the window: %i pixels wide",
    async (width) => {
      const { page, faults } = await show("#/parity", width);
      expect(await faults()).toEqual([]);
      await page.getByRole("link", { name: "alpha-gateway parity show" }).click();
      await page.getByRole("heading", { name: "GET /vm/instances" }).waitFor();
      expect(await faults()).toEqual([]);
    },
    LONG_MS,
  );
});
