import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { type Ended, PROGRAM, REPOSITORY, run } from "./program.ts";

/** A start that fails: with the settings given, and free ports. */
const rejection = (env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<Ended> =>
  run(["serve", ...args], { env: { PORT: "0", ADMIN_PORT: "0", DATA_DIR: temporaryFolder(), ...env } }).ended;

const lines = (text: string): string[] => text.trimEnd().split("\n");

test.each(["PORT", "ADMIN_PORT"])("a %s that is in use prevents the start with one line", async (name) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const port = String((other.address() as AddressInfo).port);
  const { code, out, err } = await rejection({ [name]: port });
  other.close();

  expect(lines(err)).toEqual([
    `AG_LISTEN_FAILED: ${name}: can't listen on 127.0.0.1:${port}: another program uses this port (EADDRINUSE). Choose another port with ${name}.`,
  ]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("an UPSTREAM_URL that has the path which the gateway appends gets a hint", async () => {
  const url = "http://127.0.0.1:1/v4/";
  const env = { UPSTREAM_URL: url, PORT: "0", ADMIN_PORT: "0", DATA_DIR: temporaryFolder(), AUDIT: "off" };
  const gateway = run(["serve"], { env });
  await gateway.waitForOutput(/^Running/m);
  gateway.signal("SIGTERM");
  const { err } = await gateway.ended;

  expect(lines(err).filter((line) => line.includes("AG_UPSTREAM_URL_PATH"))).toEqual([
    expect.stringContaining("UPSTREAM_URL ends in /v4, and the gateway appends /v4: try http://127.0.0.1:1"),
  ]);
});

test("a data folder that cannot be created prevents the start at once", async () => {
  const { code, err } = await rejection({ DATA_DIR: "/proc/nope" });

  expect(lines(err)).toEqual([expect.stringContaining("/proc/nope")]);
  expect(code).toBe(1);
}, 30_000);

test("a command ends silently if its reader disconnects, as head does", async () => {
  const main = PROGRAM;
  const shell = `"${process.execPath}" "${main}" check --emit | head -1; echo "\${PIPESTATUS[0]}"`;
  const { code, out, err } = await run([], { script: [], within: ["bash", "-c", shell, "--"] }).ended;

  expect(err).toBe("");
  expect(lines(out).at(-1)).toBe("141");
  expect(code).toBe(0);
}, 30_000);

test("an invalid pack prevents the start: each problem has file, line and column, and the data folder stays as it is", async () => {
  const folder = temporaryFolder();
  cpSync(join(REPOSITORY, "mappings"), folder, { recursive: true });
  const file = join(folder, "datacenter.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("closed: true", "clsoed: true"));
  writeFileSync(join(folder, "kernel.yaml"), "object: [kernel\n");
  const data = temporaryFolder();
  const { code, out, err } = await rejection({ MAPPINGS_DIR: folder, DATA_DIR: data });

  expect(lines(err)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/datacenter\.yaml:\d+:\d+/),
      expect.stringMatching(/kernel\.yaml:\d+:\d+/),
    ]),
  );
  expect(err).not.toMatch(/^ +at /m);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(readdirSync(data)).toEqual([]);
});
