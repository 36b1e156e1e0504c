/** Takes the picture of the README: one request in alpha and in v4, side by side. `npm run picture`. */
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { openBrowser, openConsole } from "./console-page.ts";

const FILE = "docs/images/side-by-side.png";

const gateway = await startListeningGateway(RECORDING);
const browser = await openBrowser();
try {
  await fetch(`${gateway.url}/v4/vm/instances/`, {
    headers: {
      authorization: `token ${gateway.sandbox.tokens.full}`,
      "x-filter": '{"datacenter":"newark","+order-by":"label"}',
    },
  });
  const response = await fetch(`${gateway.adminUrl}/api/audit?limit=1`);
  const { records } = (await response.json()) as { records: { id: string }[] };
  const { page, open } = await openConsole(browser, gateway);
  await open(`#/traffic/${records[0]?.id}`);
  const bodies = page.getByRole("heading", { name: "Side by side" });
  await bodies.evaluate((heading) => heading.scrollIntoView());
  await page.screenshot({ path: FILE });
} finally {
  await browser.close();
  await gateway.stop();
}
