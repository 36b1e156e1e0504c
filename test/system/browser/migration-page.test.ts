/** The page of a client in a browser: wide and narrow, light and dark, with the credentials that the browser asks for. */
import { beforeAll, expect, test } from "@jest/globals";
import { createApplication, REGISTERED } from "../../gateway/oauth/application.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";
import { describeWith } from "../../support/services.ts";
import { LONG_MS, WIDTHS } from "./console-page.ts";
import { startInBrowser } from "./start-in-browser.ts";

(await describeWith("chromium"))("the page of a client in a browser", () => {
  const { gateway, openWindow } = startInBrowser(() =>
    startListeningGateway({ ...RECORDING, MIGRATION_PAGE: "on" }),
  );
  let client: { id: string; secret: string };

  beforeAll(async () => {
    const { requestV4, request, url } = gateway();
    const { body } = await requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    client = body;
    const { token } = await createApplication(url, client).token("vms:modify");
    await request("GET /vm/instances", { as: token, filter: { status: "running" } });
    await request("GET /vm/instances/1", { as: token });
    await request("PUT /vm/instances/1", { as: token, body: { label: "one", group: "two" } });
    await request("POST /feedback", { as: token, body: { description: "three" } });
  }, LONG_MS);

  test.each(WIDTHS)("is accessible and fits the window: %i pixels wide", async (width) => {
    const { page, complaints, faults } = await openWindow(width, {
      httpCredentials: { username: client.id, password: client.secret },
    });
    await page.goto(`${gateway().url}/v4/migration`);
    expect(await page.locator("h1").textContent()).toBe("Your calls of alpha, and what takes their place");
    expect(await page.locator("h3, h4").allTextContents()).toEqual(
      expect.arrayContaining(["GET /vm/instances", "POST /feedback", "instance"]),
    );
    // The browser says so about the challenge that it answers.
    expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
    complaints.length = 0;
    expect(await faults()).toEqual([]);
  });
});
