import { beforeAll, expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { sendTraffic } from "../../support/five-clients.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { RECORDING, startListeningGateway, type TestSettings } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { describeWith } from "../../support/services.ts";
import { LONG_MS, WIDTHS, openBrowser, openConsole, type Console } from "./console-page.ts";
import { startInBrowser } from "./start-in-browser.ts";

const execute = promisify(execFile);
/** A window is open at each moment, on a route that nothing of these tests calls. */
const PLAN = `announced: 2026-01-01
end: 2099-12-31
policy: https://example.com/policy
stages:
  - name: first brown-outs
    brown_out: "* * * * *"
    for: 15m
    from: 2026-01-01
    routes: [GET /vm/kernels]
  - freeze: 2099-01-01
`;
/** Everybody gets the translation. */
const ROLLOUT = "data: shared\nnew: all\n";

interface Recorded {
  readonly id: string;
  readonly alpha: { readonly route: string | null; readonly status: number };
}

/** The names of the pages that the navigation shows. */
const pagesInNavigation = ({ page }: Console): Promise<string[]> =>
  page.getByRole("navigation").getByRole("link").allInnerTexts();

(await describeWith("chromium"))("the console in a browser", () => {
  let records: Recorded[];

  const { gateway, show, openWindow } = startInBrowser(() =>
    startListeningGateway({
      SUNSET_FILE: writeOperatorFile(PLAN),
      LEGACY_URL: "http://127.0.0.1:1",
      ROLLOUT_FILE: writeOperatorFile(ROLLOUT, "rollout.yaml"),
      CLIENTS_FILE: writeOperatorFile("billing: {}\n", "clients.yaml"),
      ...RECORDING,
      AUDIT_BODY_LIMIT: "64kb",
    }),
  );
  beforeAll(async () => {
    await sendTraffic(gateway().url, gateway().sandbox.tokens);
    const response = await fetch(`${gateway().adminUrl}/api/audit?limit=200`);
    records = ((await response.json()) as { records: Recorded[] }).records;
  }, LONG_MS);

  const callOf = (route: string, status = 200): string =>
    `#/traffic/${records.find(({ alpha }) => alpha.route === route && alpha.status === status)?.id}`;

  test("shows the queue of the audit store, what is lost, the compression and the time of a commit", async () => {
    const consolePage = await show("#/traffic");
    const store = consolePage.page.locator("#audit-store");
    await store.waitFor();
    expect(await store.textContent()).toMatch(
      /^Audit: 0 waiting · 0 lost · [\d.]+ kB in [\d.]+ kB \([\d.]+ to 1\) · [\d.]+ ms for a commit$/,
    );
  });

  test.each(WIDTHS)(
    "has no errors, is accessible and fits the window in every view: %i pixels wide",
    async (width) => {
      const consolePage = await openWindow(width);
      const { clients } = (await (await fetch(`${gateway().adminUrl}/api/usage/clients`)).json()) as {
        clients: { client: string }[];
      };
      const views = [
        "#/traffic",
        callOf("GET /vm/instances/:id"),
        callOf("GET /vm/instances"),
        callOf("POST /vm/instances"),
        callOf("POST /vm/instances", 400),
        callOf("GET /datacenters"),
        "#/clients",
        `#/clients/${clients[0]?.client}`,
        "#/clients/none",
        "#/routes",
        "#/migration",
        "#/plan",
        "#/parity",
        "#/rollout",
        "#/impact",
        `#/impact?${new URLSearchParams({ route: "POST /vm/instances" }).toString()}`,
        `#/impact?${new URLSearchParams({ route: "POST /vm/instances", name: "body.label" }).toString()}`,
        `#/impact?${new URLSearchParams({ route: "GET /vm/instances/:id", name: "answer.label" }).toString()}`,
        "#/mappings",
      ];
      for (const view of views) {
        await consolePage.open(view);
        expect(await consolePage.faults()).toEqual([]);
      }
    },
    LONG_MS,
  );

  test("filters the list, keeps filters in the URL, and clears them", async () => {
    const consolePage = await show("#/traffic");
    const { page } = consolePage;
    const calls = page.locator("tbody tr");
    const refused = records.filter(({ alpha }) => alpha.status === 400).length;
    await page.getByLabel("Status").fill("400");
    await page.keyboard.press("Enter");
    await waitFor(async () => (await calls.count()) === refused);
    expect(page.url()).toContain("status=400");
    await page.reload();
    await waitFor(async () => (await calls.count()) === refused);
    await page.getByLabel("Status").fill("420");
    await page.keyboard.press("Enter");
    await page.getByText("No call matches").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await waitFor(async () => (await calls.count()) === 50);
    expect(consolePage.complaints).toEqual([]);
  });

  test.each(["#/traffic/%zz", "#/clients/%", "#/%E0%A4%A"])(
    "says that there is nothing at %s",
    async (hash) => {
      const consolePage = await openWindow();
      const { page } = consolePage;
      await page.goto(`${gateway().adminUrl}/${hash}`);
      await page.getByRole("alert").getByText("There is nothing here.").waitFor();
      await page.getByRole("link", { name: "Traffic" }).click();
      await page.locator("tbody tr").first().waitFor();
      expect(consolePage.complaints).toEqual([]);
    },
  );

  test("updates the list until it is paused", async () => {
    const { page } = await show("#/traffic?route=GET+%2Fvm%2Ftypes");
    const calls = page.locator("tbody tr");
    await gateway().request("GET /vm/types");
    await waitFor(async () => (await calls.count()) === 1);
    await page.getByRole("button", { name: "Live" }).click();
    await page.getByRole("button", { name: "Paused" }).waitFor();
    await gateway().request("GET /vm/types");
    await page.waitForTimeout(2500);
    expect(await calls.count()).toBe(1);
    await page.getByRole("button", { name: "Paused" }).click();
    await waitFor(async () => (await calls.count()) === 2);
  });

  test("can be used by keyboard alone", async () => {
    const { page } = await show("#/traffic");
    const focused = () => page.evaluate("document.activeElement.textContent.trim()");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    for (let presses = 0; presses < 20; presses += 1) {
      await page.keyboard.press("Tab");
      if (/^(?:GET|POST|PUT) /.test(String(await focused()))) break;
    }
    const call = String(await focused());
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: call.split("?")[0] ?? "" }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("view");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("← Traffic");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Traffic" }).waitFor();
  });

  /** The words that a shell hands to curl, after `-g`. */
  async function wordsOf(line: string): Promise<string[]> {
    const { stdout } = await execute("sh", ["-c", `curl() { shift; printf '%s\\0' "$@"; }\n${line}`], {
      env: {
        ...process.env,
        GATEWAY: gateway().url,
        V4: gateway().sandbox.url,
        TOKEN: gateway().sandbox.tokens.full,
      },
    });
    return stdout.split("\0").slice(0, -1);
  }

  test.each([
    ["alpha", "vms"],
    ["v4", "data"],
  ])("copies a request as a working curl command in %s", async (dialect, list) => {
    const { page } = await show(callOf("GET /vm/instances"));
    await page.getByRole("button", { name: `Copy as curl (${dialect})` }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const [url = "", ...options] = await wordsOf(await page.evaluate("navigator.clipboard.readText()"));
    const headers = options.filter((word) => word !== "-H").map((line) => line.split(/: (.*)/s).slice(0, 2));
    const response = await fetch(url, { headers: headers as [string, string][] });
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([
      200,
      expect.arrayContaining([list]),
    ]);
  });

  test("downloads a request as JSON and as HAR", async () => {
    const { page } = await show(callOf("POST /vm/instances"));
    const saved = async (press: () => Promise<void>): Promise<string> => {
      const [download] = await Promise.all([page.waitForEvent("download"), press()]);
      return readFile(await download.path(), "utf8");
    };
    const json = await saved(() => page.getByRole("button", { name: "Download JSON" }).click());
    expect(JSON.parse(json)).toMatchObject({ alpha: { route: "POST /vm/instances" } });
    expect(json).not.toContain("aVery!long-secret-1");
    const har = await saved(() => page.getByRole("link", { name: "Download HAR" }).click());
    expect(JSON.parse(har)).toMatchObject({ log: { version: "1.2", entries: expect.any(Array) } });
  });

  test("explains fields with their class and values", async () => {
    const consolePage = await show(callOf("GET /vm/instances/:id"));
    const row = consolePage.page.locator("tr", {
      has: consolePage.page.getByRole("rowheader", { name: "datacenter" }),
    });
    expect(await row.innerText()).toMatch(/expanded[^]*region[^]*expanded to the entry of the catalog/);
    const line = consolePage.page.locator("section[aria-label=Alpha] .line", { hasText: '"total_transfer"' });
    expect(await line.getAttribute("data-class")).toBe("composed");
  });

  test("traces the expressions of a record, below both sides", async () => {
    const consolePage = await show(callOf("GET /vm/instances/:id"));
    const trace = consolePage.page.getByRole("region", { name: "Expressions" });
    await trace.getByRole("button", { name: "Trace the expressions" }).click();
    const field = trace
      .locator("details", { hasText: "instance.yaml" })
      .filter({ hasText: "total_transfer.read" });
    await field.locator("summary").click();
    expect(await field.innerText()).toMatch(
      /\$floor\(\$calls\.transfer\.used \/ 1073741824\) = \d+[^]*\$calls\.transfer\.used \/ 1073741824 = [\d.]+[^]*\$calls\.transfer\.used = \d+/,
    );
    const schedule = trace.locator("details").filter({ hasText: "backups.schedule.day.read" });
    await schedule.locator("summary").click();
    expect(await schedule.innerText()).toMatch(/then|else/);
    expect(await consolePage.violations()).toEqual([]);
    expect(consolePage.complaints).toEqual([]);
  });

  test("names the clients that would notice if a route, a member or a word were gone", async () => {
    const consolePage = await show("#/impact", 390);
    const { page } = consolePage;
    const results = page.locator('section[aria-label="Clients"]');
    const shows = (text: RegExp): Promise<unknown> =>
      waitFor(async () => text.test(await results.innerText()));
    // By keyboard: the first route of the list.
    await page.locator("select[name=route]").focus();
    await page.keyboard.press("ArrowDown");
    await waitFor(async () => new URL(page.url()).hash.includes("route="));
    await page.locator("select[name=route]").selectOption("POST /vm/instances");
    await shows(/1 client calls this route/);
    await page.locator("select[name=name]").focus();
    await page.keyboard.press("ArrowDown");
    await waitFor(async () => new URL(page.url()).hash.includes("name="));
    await page.locator("select[name=name]").selectOption("body.label");
    await shows(/1 client sends body\.label/);
    expect(await results.innerText()).toContain("provision.rb/0.9");
    await page.locator("select[name=name]").selectOption("answer.label");
    await shows(/Nobody can know which of them read it/);
    await page.locator("select[name=name]").selectOption("body.backup");
    await shows(/No client would notice/);
    expect(consolePage.complaints).toEqual([]);
  });

  test("sorts tables by column, ascending and descending", async () => {
    const { page } = await show("#/clients");
    const figures = async () => (await page.locator("td[data-label=Requests]").allInnerTexts()).map(Number);
    const head = page.getByRole("columnheader", { name: "Requests" });
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    expect(await figures()).toEqual((await figures()).toSorted((a, b) => b - a));
    await head.getByRole("button").click();
    expect(await head.getAttribute("aria-sort")).toBe("ascending");
    expect(await figures()).toEqual((await figures()).toSorted((a, b) => a - b));
  });

  test("shows the mean time of each route, and of its pipeline stages", async () => {
    const consolePage = await show("#/mappings");
    const times = consolePage.page.locator("td[data-label='Mean time'] details").first();
    expect(await times.locator("summary").innerText()).toMatch(/^\d+\.\d{3} ms$/);
    await times.locator("summary").click();
    expect(await times.locator("div").allInnerTexts()).toContainEqual(
      expect.stringMatching(/^build_response \d+\.\d{3} ms$/),
    );
  });

  test("says which edits of the pack need a restart", async () => {
    const consolePage = await show("#/mappings");
    expect(await consolePage.page.locator("main").innerText()).toMatch(
      /scopes, another oauth, .* take effect by a restart/,
    );
  });

  test("shows each client's migration state and remaining work", async () => {
    const consolePage = await show("#/migration");
    const text = await consolePage.page.locator("main").innerText();
    for (const result of [/not begun/, /moving/, /ready/, /GET \/vm\/instances\/:id/])
      expect(text).toMatch(result);
  });

  test("shows the stages of the plan, and pauses and resumes them by mouse and keyboard", async () => {
    const { page } = await show("#/plan");
    const stages = page.getByRole("list", { name: "Stages" });
    await waitFor(async () => /active .* first brown-outs/.test(await stages.innerText()));
    expect(await stages.innerText()).toMatch(/planned .* freeze/);
    // Without a name nothing is paused.
    await page.getByRole("button", { name: "Pause the plan" }).click();
    expect(await stages.innerText()).toContain("active");
    await page.getByLabel("Your name").fill("Ann");
    await page.getByLabel("Reason").fill("a customer called");
    await page.getByLabel("Reason").press("Enter");
    await page.getByRole("button", { name: "Resume the plan" }).waitFor();
    expect(await page.getByRole("list", { name: "Pauses" }).innerText()).toMatch(
      /all stages by Ann at .*: a customer called/,
    );
    await page.getByRole("button", { name: "Resume the plan" }).press("Enter");
    await page.getByRole("button", { name: "Pause the plan" }).waitFor();
    await stages.getByRole("button", { name: "Pause" }).first().click();
    await stages.getByRole("button", { name: "Resume" }).click();
    await waitFor(async () => /active .* first brown-outs/.test(await stages.innerText()));
  });

  test("shows who gets the translation, turns a client back, and resumes nothing", async () => {
    const consolePage = await show("#/rollout");
    const { page } = consolePage;
    const clients = page.getByRole("list", { name: "Clients" });
    await waitFor(async () => /new\s*billing: all clients/.test(await clients.innerText()));
    // Without a name nothing is turned back.
    await page.getByRole("button", { name: "Turn back now" }).click();
    await page.getByLabel("Your name").fill("Ann");
    await page.getByLabel("What").selectOption("billing");
    await page.getByLabel("Reason").fill("a customer called");
    await page.getByLabel("Reason").press("Enter");
    await waitFor(async () => /old\s*billing/.test(await clients.innerText()));
    expect(await page.getByRole("list", { name: "Returned" }).innerText()).toMatch(
      /billing at .* by Ann: a customer called/,
    );
    expect(await page.locator("main").getByRole("button").allInnerTexts()).toEqual(["Turn back now"]);
    expect(await consolePage.violations()).toEqual([]);
  });

  test("has all pages in its navigation where all features are configured", async () => {
    const consolePage = await show("#/traffic");
    expect((await pagesInNavigation(consolePage)).join(" ")).toBe(
      "Traffic Clients Routes Migration Plan Parity Roll-out Impact Mappings",
    );
  });

  test("keeps the chosen theme", async () => {
    const consolePage = await show("#/traffic");
    const { page } = consolePage;
    const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await paper();
    await page.getByRole("button", { name: /light and dark/ }).click();
    const dark = await paper();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.locator("h1").waitFor();
    expect(await paper()).toBe(dark);
  });
});

(await describeWith("chromium"))("the console of a gateway that", () => {
  const start = async (settings: TestSettings = {}) => {
    const gateway = await startListeningGateway({ ...RECORDING, ...settings });
    return { gateway, consolePage: await openConsole(await openBrowser(), gateway) };
  };

  test("has no requests says what it will show", async () => {
    const { consolePage } = await start();
    for (const [view, text] of [
      ["#/traffic", "No calls yet"],
      ["#/clients", "No client yet"],
      ["#/migration", "Nothing to show yet"],
      ["#/plan", "There is no plan"],
      ["#/parity", "Nothing was compared yet"],
      ["#/rollout", "There is no roll-out"],
    ] as const) {
      await consolePage.open(view);
      await consolePage.page.getByText(text).waitFor();
      expect(await consolePage.violations()).toEqual([]);
    }
    expect(consolePage.complaints).toEqual([]);
  });

  test.each([
    ["an audit", {}, ["Traffic", "Clients", "Routes", "Migration", "Impact", "Mappings"]],
    [
      "a plan",
      { SUNSET_FILE: writeOperatorFile(PLAN) },
      ["Traffic", "Clients", "Routes", "Migration", "Plan", "Impact", "Mappings"],
    ],
    ["a candidate", { CANDIDATE_MAPPINGS_DIR: "mappings", AUDIT: "off" }, ["Traffic", "Parity", "Mappings"]],
  ])(
    "has %s alone has no pages of other features in its navigation, for the mouse and the keyboard",
    async (_name, settings, pages) => {
      const { consolePage } = await start(settings);
      await consolePage.open("#/rollout");
      const { page } = consolePage;
      await page.getByText("There is no roll-out").waitFor();
      expect(await pagesInNavigation(consolePage)).toEqual(pages);
      await page.locator(".skip").focus();
      const reached: unknown[] = [];
      for (const _page of pages) {
        await page.keyboard.press("Tab");
        reached.push(await page.evaluate("document.activeElement.textContent"));
      }
      expect(reached).toEqual(pages);
      expect(await consolePage.violations()).toEqual([]);
      expect(consolePage.complaints).toEqual([]);
    },
  );

  test("has an admin token requires it, and signs out", async () => {
    const { gateway, consolePage } = await start({ ADMIN_TOKEN: "open-sesame" });
    const { page } = consolePage;
    await page.goto(`${gateway.adminUrl}/`);
    expect(await consolePage.violations()).toEqual([]);
    await page.getByLabel("Admin token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Admin token").fill("open-sesame");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Traffic" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin token").waitFor();
  });

  test("becomes unreachable says so, and recovers", async () => {
    const { consolePage } = await start();
    await consolePage.open("#/traffic");
    const { page } = consolePage;
    await page.route("**/*", (route) => route.abort());
    const banner = page.locator("#offline");
    await banner.waitFor();
    expect(await banner.innerText()).toContain("reconnects automatically");
    await page.unroute("**/*");
    await banner.waitFor({ state: "hidden" });
  });
});
