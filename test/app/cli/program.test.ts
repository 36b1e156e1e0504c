/** The command line, without processes: its declarations and its errors. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { restoreEnv, setEnv } from "../../support/env.ts";
import { createCommandLine, runCommandLine } from "../../../src/app/cli/program.ts";
import { SETTINGS } from "../../../src/base/settings/setting-definitions.ts";
import { loadedWith } from "../../architecture/loaded-with.ts";

let out = "";
let err = "";
beforeEach(() => {
  out = "";
  err = "";
  for (const name of Object.keys(SETTINGS)) setEnv(name, undefined);
  jest.spyOn(process.stdout, "write").mockImplementation((text) => Boolean((out += text)));
  jest.spyOn(process.stderr, "write").mockImplementation((text) => Boolean((err += text)));
});
afterEach(() => {
  jest.restoreAllMocks();
  restoreEnv();
});

const COMMANDS = (await createCommandLine(() => {})).commands;

const flagsOf = (commandName: string): string[] =>
  COMMANDS.filter((command) => command.name() === commandName).flatMap(({ options }) =>
    options.map(({ long }) => long ?? ""),
  );

describe("help", () => {
  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])("%j lists the commands", async (args) => {
    expect(await runCommandLine(args)).toBe(0);
    for (const command of COMMANDS)
      expect(out).toMatch(
        new RegExp(`^  ${command.name()} ${command.options.length > 0 ? "\\[options\\]" : ""}`, "m"),
      );
    expect(err).toBe("");
  });

  test.each(COMMANDS.map((command) => command.name()))(
    "%s --help and help %s list its flags",
    async (name) => {
      expect(await runCommandLine([name, "--help"])).toBe(0);
      const byFlag = out;
      out = "";
      expect(await runCommandLine(["help", name])).toBe(0);
      expect(out).toBe(byFlag);
      expect(out).toContain(`Usage: alpha-gateway ${name} `);
      for (const flag of flagsOf(name)) expect(out).toContain(`  ${flag}`.slice(1));
      expect(err).toBe("");
    },
  );

  test.each(Object.entries(SETTINGS))(
    "serve --help lists %s with its flag, default and meaning",
    async (name, { meaning, default: text }) => {
      await runCommandLine(["serve", "--help"]);
      const flag = `--${name.toLowerCase().replaceAll("_", "-")}`;
      const help = out.replaceAll(/\s+/g, " ");
      const suffix = text === undefined ? `(env: ${name})` : `(default: ${text}, env: ${name})`;
      const plain = meaning.replaceAll("`", "").replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
      expect(help).toContain(` ${flag} <value> ${plain} ${suffix}`);
    },
  );

  test("does not show values of the environment", async () => {
    setEnv("ADMIN_TOKEN", "s3cr3t");
    setEnv("PORT", "4711");
    await runCommandLine(["serve", "--help"]);
    expect(out).not.toMatch(/s3cr3t|4711/);
  });
});

describe("flags of settings", () => {
  test("are read in both spellings, and win over the environment", async () => {
    setEnv("PORT", "none");
    expect(await runCommandLine(["serve", "--port", "9000", "--admin-port=9000"])).toBe(1);
    expect(err).toBe(
      "AG_SETTINGS_INVALID: These settings are invalid:\n  ADMIN_PORT: 9000 is the port of the public listener\n",
    );
  });

  test("are read by commands that do not serve, which ignore other settings", async () => {
    setEnv("PORT", "none");
    setEnv("MAPPINGS_DIR", "/nowhere");
    const args = ["openapi", "--mappings-dir", "mappings", "--words", "vm=acme"];
    expect({ code: await runCommandLine(args), err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out)).toMatchObject({ paths: { "/acme/instances": {} } });
  });

  test("that are invalid are reported by commands that do not serve", async () => {
    expect(await runCommandLine(["openapi", "--words", "vm"])).toBe(1);
    expect(err).toMatch(/^AG_SETTINGS_INVALID: These settings are invalid:\n {2}WORDS: "vm" is invalid: /);
  });
});

describe("errors of usage", () => {
  test.each([
    [["sreve"], /^AG_USAGE: unknown command 'sreve'\n\(Did you mean serve\?\)\n/],
    [["constructor"], /^AG_USAGE: unknown command 'constructor'\n/],
    [["--port"], /^AG_USAGE: unknown option '--port'\n/],
    [["serve", "--prot", "80"], /^AG_USAGE: unknown option '--prot'\n\(Did you mean --port\?\)\n/],
    [["serve", "--port"], /^AG_USAGE: option '--port <value>' argument missing\n/],
    [["serve", "-p", "80"], /^AG_USAGE: unknown option '-p'\n/],
    [["serve", "stray"], /^AG_USAGE: too many arguments for 'serve'/],
    [["serve", "--__proto__", "x"], /^AG_USAGE: unknown option '--__proto__'\n/],
    [["serve", "--constructor", "x"], /^AG_USAGE: unknown option '--constructor'\n/],
    [["serve", "--toString=x"], /^AG_USAGE: unknown option '--toString'\n/],
    [["check", "--emti"], /^AG_USAGE: unknown option '--emti'\n\(Did you mean --emit\?\)\n/],
    [
      ["check", "--schema", "nonsense"],
      /Allowed choices are resource, pack, surface, example, catalogs, accepted-differences, clients, rollout, sunset, notices\.\n/,
    ],
    [["explain"], /^AG_USAGE: missing required argument 'request'\n/],
    [["explain", "GET /a", "GET /b"], /^AG_USAGE: too many arguments for 'explain'/],
    [["explain", "GET /a", "-H", "nonsense"], /^AG_USAGE: -H "nonsense" is not "Name: value"\n/],
    [["explain", "GET /a?q=b c"], /^AG_USAGE: "GET \/a\?q=b c" is not a method and a path; white space/],
    [["explain", "GET /a", "-d", "{"], /^AG_USAGE: -d is not valid JSON\n/],
    [["replay"], /^AG_USAGE: required option '--from <source>' not specified\n/],
    [["report", "--format", "pdf"], /Allowed choices are md, html, json, csv\.\n/],
    [["export", "--format", "xml"], /Allowed choices are ndjson, ndjson\.zst, csv, har\.\n/],
    [
      ["export", "--status", "9", "--since", "x"],
      /^AG_USAGE: invalid flags:\n {2}--status: .+\n {2}--since: /,
    ],
    [["sandbox", "--port", "70000"], /'70000' is invalid\. It must be a port, 0 to 65535\.\n/],
  ])("%j", async (args, message) => {
    expect(await runCommandLine(args)).toBe(1);
    expect(err).toMatch(message);
    expect(err).toMatch(/\nRun the command with --help to see its arguments and flags\.\n$/);
    expect(err).not.toMatch(/^ +at /m);
    expect(out).toBe("");
  });

  test("of serve come together with all problems of the settings", async () => {
    setEnv("PORT", "http");
    setEnv("AUDIT", "some");
    expect(await runCommandLine(["serve", "--quiet-days", "many", "--colour", "red"])).toBe(1);
    expect(err.split("\n")).toEqual([
      "AG_USAGE: unknown option '--colour'",
      "AG_SETTINGS_INVALID: These settings are invalid:",
      expect.stringMatching(/^ {2}PORT: /),
      expect.stringMatching(/^ {2}QUIET_DAYS: "many" /),
      expect.stringMatching(/^ {2}AUDIT: /),
      "Run the command with --help to see its arguments and flags.",
      "",
    ]);
  });

  test.each([["--admin-tokn", "s3cr3t"], ["--admin-tokn=s3cr3t"], ["--admin-tokn=it's s3cr3t'\n's"]])(
    "do not show what follows a misspelt flag: %j",
    async (...args) => {
      await runCommandLine(["serve", ...args]);
      expect(err).toContain("AG_USAGE: unknown option '--admin-tokn'");
      expect(err).not.toContain("s3cr3t");
    },
  );
});

describe("errors that an operator can correct", () => {
  test("are printed with their code and without a stack", async () => {
    const folder = temporaryFolder();
    expect(await runCommandLine(["export", "--data-dir", folder])).toBe(1);
    expect(err).toMatch(/^AG_AUDIT_UNAVAILABLE: .+\n$/);
    expect(err).toContain(folder);
  });

  test("of a pack name file, line and column", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "pack.yaml"), "object: [kernel\n");
    expect(await runCommandLine(["explain", "GET /a", "--mappings-dir", folder])).toBe(1);
    expect(err).toMatch(/^AG_PACK_INVALID: The mapping pack is invalid:\n.*pack\.yaml:\d+:\d+: /);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("of the system are printed without a stack", async () => {
    expect(await runCommandLine(["replay", "--from", "/nowhere.ndjson"])).toBe(1);
    expect(err).toMatch(/^ENOENT: no such file or directory, open '\/nowhere\.ndjson'\n$/);
  });
});

test("the module of a command, and the room of a feature, are loaded only when the command runs", () => {
  const loaded = [...loadedWith(["app/cli/program.ts"])];
  expect(loaded.filter((file) => !file.startsWith("base/")).toSorted()).toEqual([
    "app/cli/authoring/check/check-command.ts",
    "app/cli/authoring/pack-commands.ts",
    "app/cli/command-settings.ts",
    "app/cli/feature-commands.ts",
    "app/cli/features.ts",
    "app/cli/migration/migration-commands.ts",
    "app/cli/program.ts",
    "app/cli/terminal.ts",
  ]);
});
