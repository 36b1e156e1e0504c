import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createFolder, removeFolders } from "./folder.ts";
import { type Ended, killAll, PROGRAM, REPOSITORY, run } from "./program.ts";

afterEach(async () => {
  await killAll();
  removeFolders();
});

/** A start that fails: with the settings given, and free ports. */
const rejection = (env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<Ended> =>
  run(["serve", ...args], { env: { PORT: "0", ADMIN_PORT: "0", DATA_DIR: createFolder(), ...env } }).ended;

const lines = (text: string): string[] => text.trimEnd().split("\n");

test("all problems of the flags and the settings are reported together", async () => {
  const settings = { PORT: "http", UPSTREAM_URL: "v4.example.org", AUDIT: "some", WORDS: "2026" };
  const { code, out, err } = await rejection(settings, ["--colour", "red"]);

  expect(lines(err)).toEqual([
    "AG_USAGE: unknown option '--colour'",
    "AG_SETTINGS_INVALID: These settings are invalid:",
    expect.stringContaining("PORT"),
    expect.stringContaining("UPSTREAM_URL"),
    expect.stringContaining("WORDS"),
    expect.stringContaining("AUDIT"),
    "Run the command with --help to see its arguments and flags.",
  ]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("a faulty secret is not printed", async () => {
  const { code, err } = await rejection({ DATABASE_URL: "mysql://me:hunter2@db/audit" });

  expect(err).toContain("DATABASE_URL");
  expect(err).not.toContain("hunter2");
  expect(code).toBe(1);
});

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
  const env = { UPSTREAM_URL: url, PORT: "0", ADMIN_PORT: "0", DATA_DIR: createFolder(), AUDIT: "off" };
  const gateway = run(["serve"], { env });
  await gateway.waitForOutput(/^Running/m);
  gateway.signal("SIGTERM");
  const { err } = await gateway.ended;

  expect(lines(err).filter((line) => line.includes("AG_UPSTREAM_URL_PATH"))).toEqual([
    expect.stringContaining("UPSTREAM_URL ends in /v4, and the gateway appends /v4: try http://127.0.0.1:1"),
  ]);
});

test("an unusable data folder prevents the start with its name", async () => {
  const file = join(createFolder(), "file");
  writeFileSync(file, "");
  const { code, err } = await rejection({ DATA_DIR: file });

  expect(err).toContain(join(file, "audit.db"));
  expect(err).not.toMatch(/^ +at /m);
  expect(code).toBe(1);
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

describe("an invalid pack", () => {
  function brokenPack(): string {
    const folder = createFolder();
    cpSync(join(REPOSITORY, "mappings"), folder, { recursive: true });
    const file = join(folder, "datacenter.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("closed: true", "clsoed: true"));
    writeFileSync(join(folder, "kernel.yaml"), "object: [kernel\n");
    return folder;
  }

  const places = [
    expect.stringMatching(/datacenter\.yaml:\d+:\d+/),
    expect.stringMatching(/kernel\.yaml:\d+:\d+/),
  ];

  test("prevents the start, and each problem has file, line and column", async () => {
    const { code, out, err } = await rejection({ MAPPINGS_DIR: brokenPack() });

    expect(lines(err)).toEqual(expect.arrayContaining(places));
    expect(err).not.toMatch(/^ +at /m);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("leaves the data folder as it is", async () => {
    const data = createFolder();
    const { code } = await rejection({ MAPPINGS_DIR: brokenPack(), DATA_DIR: data });

    expect(code).toBe(1);
    expect(readdirSync(data)).toEqual([]);
  });

  test("is reported by check", async () => {
    const { code, out, err } = await run(["check", brokenPack()]).ended;

    expect(lines(out)).toEqual(expect.arrayContaining(places));
    expect(lines(out).at(-1)).toMatch(/^\d+ problems$/);
    expect({ code, err }).toEqual({ code: 1, err: "" });
  });

  test("prevents the start if its folder is missing", async () => {
    const missing = join(createFolder(), "none");
    const { code, err } = await rejection({ MAPPINGS_DIR: missing });

    expect(err).toContain(missing);
    expect(err).not.toMatch(/^ +at /m);
    expect(code).toBe(1);
  });
});
