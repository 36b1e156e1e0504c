import { describe, expect, test } from "vitest";
import { readSettings, SettingsError, settingsHelp } from "../../../src/config/settings.ts";
import { SETTINGS } from "../../../src/config/schema.ts";

function faultsOf(args: readonly string[], environment: Record<string, string> = {}): readonly string[] {
  try {
    readSettings(args, environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
  return [];
}

/** What the contract lists, with its defaults. */
const CONTRACT: Record<string, string | undefined> = {
  HOST: "127.0.0.1",
  PORT: "8080",
  ADMIN_HOST: "127.0.0.1",
  ADMIN_PORT: "8081",
  ADMIN_TOKEN: undefined,
  UPSTREAM_URL: undefined,
  AUTH_URL: undefined,
  ALLOW_HTTP_UPSTREAM: "false",
  WORDS: "vm=vm,orch=orch",
  DATA_DIR: "./data",
  DATABASE_URL: undefined,
  REDIS_URL: undefined,
  RATE_LIMIT: "1600/120",
  RATE_LIMIT_CREATE: "10/30",
  TOKEN_TTL_SECONDS: "300",
  TOKEN_NEGATIVE_TTL_SECONDS: "30",
  TOKEN_CACHE_SIZE: "10000",
  GATEWAY_SECRET: undefined,
  CATALOG_TTL_SECONDS: "600",
  UPSTREAM_TIMEOUT_MS: "30000",
  UPSTREAM_CONNECTIONS: "64",
  BODY_LIMIT: "1mb",
  AUDIT: "full",
  AUDIT_DURABILITY: "relaxed",
  AUDIT_BODY_LIMIT: "64kb",
  AUDIT_RETENTION_DAYS: "30",
  AUDIT_SIZE_LIMIT: "2gb",
  NATIVE_LANE: "on",
  DEPRECATION_DATE: undefined,
  SUNSET_DATE: undefined,
  SUNSET_LINK: undefined,
  CORS_ORIGINS: undefined,
  TRUST_PROXY: undefined,
  WORKERS: "1",
  LOG_LEVEL: "info",
  SHUTDOWN_GRACE_MS: "10000",
};

test.each(Object.entries(CONTRACT))("%s is there, and its default is %s", (name, fallback) => {
  expect(SETTINGS[name as keyof typeof SETTINGS].default).toBe(fallback);
});

test("nothing set: every default can be used", () => {
  expect(readSettings([], {})).toMatchObject({
    PORT: 8080,
    RATE_LIMIT: { points: 1600, seconds: 120 },
    BODY_LIMIT: 1024 * 1024,
    AUDIT_BODY_LIMIT: 64 * 1024,
    NATIVE_LANE: true,
    ALLOW_HTTP_UPSTREAM: false,
  });
});

describe("values that can't be used", () => {
  const table: [string, string[]][] = [
    ["PORT", ["65536", "-1", "http", "80.5", "0x50", "8080 ", "1e3"]],
    ["ADMIN_PORT", ["65536", "on", "OFF", "-1"]],
    [
      "UPSTREAM_URL",
      [
        "v4.example.org",
        "ftp://a",
        "file:///etc",
        "https://",
        "https://u:p@a",
        "https://a?b=c",
        "https://a#b",
      ],
    ],
    ["AUTH_URL", ["login.example.org", "javascript:alert(1)"]],
    ["ALLOW_HTTP_UPSTREAM", ["yes", "1", "TRUE"]],
    ["WORDS", ["vm", "vm=", "vm=a b"]],
    ["RATE_LIMIT", ["1600", "0/120", "10/0", "10/0.5", "-1/2", "1/2/3", "1/10000000"]],
    ["RATE_LIMIT_CREATE", ["many/30", "10/"]],
    ["TOKEN_TTL_SECONDS", ["0", "-1", "1.5", "for ever", "99999999999"]],
    ["TOKEN_NEGATIVE_TTL_SECONDS", ["-1", "99999999999"]],
    ["TOKEN_CACHE_SIZE", ["0", "999999999999"]],
    ["CATALOG_TTL_SECONDS", ["0", "2147484"]],
    ["UPSTREAM_TIMEOUT_MS", ["0", "30s", "2147483648"]],
    ["UPSTREAM_CONNECTIONS", ["0", "9999999999"]],
    ["BODY_LIMIT", ["1gb", "-1kb", "1 mb", "lots", "999999999mb"]],
    ["AUDIT", ["on", "FULL", "none"]],
    ["AUDIT_DURABILITY", ["eventual"]],
    ["AUDIT_BODY_LIMIT", ["16k"]],
    ["AUDIT_RETENTION_DAYS", ["0", "999999999999"]],
    ["DATABASE_URL", ["db.example.org", "mysql://db/audit", "/var/run/postgresql"]],
    ["AUDIT_SIZE_LIMIT", ["2", "1mb", "0gb", "2kb", "2000tb"]],
    ["NATIVE_LANE", ["true", "false"]],
    ["DEPRECATION_DATE", ["2026-02-30", "2026-2-3", "tomorrow", "@1700000000", "2026-01-01T00:00:00Z"]],
    ["SUNSET_DATE", ["2026-13-01", "01.02.2026"]],
    ["SUNSET_LINK", ["/sunset", "mailto:a@example.org"]],
    ["CORS_ORIGINS", ["app.example.org", "https://a/", "https://a/b", "https://a, https://b/x", "null"]],
    ["TRUST_PROXY", ["true", "10.0.0.0/33", "10.0.0", "::1/129", "proxy.example.org", "10.0.0.0/8/8"]],
    [
      "REDIS_URL",
      [
        "localhost:6379",
        "http://localhost",
        "redis://",
        "redis:///var/run/redis",
        "redis://host/first",
        "redis://host/0/1",
        "redis://host?db=1",
        "redis://:%zz@host",
      ],
    ],
    ["WORKERS", ["0", "65", "many"]],
    ["LOG_LEVEL", ["verbose", "INFO"]],
    ["SHUTDOWN_GRACE_MS", ["-1", "10s", "2147483648"]],
  ];
  test.each(table.flatMap(([name, values]) => values.map((value) => [name, value])))(
    "%s=%s",
    (name = "", value = "") => {
      const faults = faultsOf([], { [name]: value });
      expect(faults).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
      expect(faults[0]).toMatch(/must be|expected|such as|is (?:none|not|no)|"/);
    },
  );

  test("all of them are told together, the flags' among them", () => {
    const environment = Object.fromEntries(table.map(([name, [value = ""]]) => [name, value]));
    const faults = faultsOf(["--no-such-flag", "value", "stray", "--host"], environment);
    for (const name of Object.keys(environment))
      expect(faults.filter((fault) => fault.startsWith(`${name}: `))).toHaveLength(1);
    expect(faults.slice(0, 3)).toEqual([
      "--no-such-flag: there is no such setting",
      expect.stringMatching(/^stray: not a flag/),
      "--host: a value is missing",
    ]);
  });
});

describe("what must hold together", () => {
  test.each([
    [{ UPSTREAM_URL: "http://v4.example.org" }, /^UPSTREAM_URL: .*ALLOW_HTTP_UPSTREAM/],
    [{ UPSTREAM_URL: "http://127.0.0.1.example.org" }, /^UPSTREAM_URL/],
    [{ UPSTREAM_URL: "http://128.0.0.1" }, /^UPSTREAM_URL/],
    [{ AUTH_URL: "http://login.example.org" }, /^AUTH_URL/],
    [{ ADMIN_HOST: "0.0.0.0" }, /^ADMIN_HOST: .*ADMIN_TOKEN/],
    [{ ADMIN_HOST: "::" }, /^ADMIN_HOST/],
    [{ PORT: "9000", ADMIN_PORT: "9000" }, /^ADMIN_PORT: /],
  ])("%j is refused", (environment, fault) => {
    expect(faultsOf([], environment as Record<string, string>)).toEqual([expect.stringMatching(fault)]);
  });

  test.each([
    { UPSTREAM_URL: "https://v4.example.org/base" },
    { UPSTREAM_URL: "http://127.9.9.9:8000" },
    { UPSTREAM_URL: "http://[::1]:8000" },
    { UPSTREAM_URL: "http://localhost" },
    { UPSTREAM_URL: "http://v4.example.org", ALLOW_HTTP_UPSTREAM: "true" },
    { ADMIN_HOST: "0.0.0.0", ADMIN_TOKEN: "t" },
    { ADMIN_HOST: "0.0.0.0", ADMIN_PORT: "off" },
    { PORT: "0", ADMIN_PORT: "0" },
  ])("%j is taken", (environment) => {
    expect(faultsOf([], environment as unknown as Record<string, string>)).toEqual([]);
  });
});

describe("where values come from", () => {
  test("a flag wins over the environment, in both spellings; an empty variable is unset", () => {
    const environment = { PORT: "1111", HOST: "", UPSTREAM_URL: "" };
    expect(readSettings(["--port", "2222"], environment).PORT).toBe(2222);
    expect(readSettings(["--port=2222"], environment).PORT).toBe(2222);
    expect(readSettings([], environment)).toMatchObject({ PORT: 1111, HOST: "127.0.0.1" });
    expect(readSettings([], environment).UPSTREAM_URL).toBeUndefined();
  });

  test("a fault of a variable that a flag overrules is none", () => {
    expect(faultsOf(["--port", "2222"], { PORT: "none" })).toEqual([]);
  });

  test.each([
    [["--prot", "80"], /--prot: there is no such setting/],
    [["--port"], /--port: a value is missing/],
    [["-p", "80"], /-p/],
    [["serve"], /serve: not a flag/],
    [["--__proto__", "x"], /--__proto__: there is no such setting/],
    [["--constructor", "x"], /--constructor: there is no such setting/],
    [["--toString=x"], /--toString: there is no such setting/],
  ])("%j is refused", (args, fault) => {
    expect(faultsOf(args).join("\n")).toMatch(fault);
  });
});

describe("--help", () => {
  test.each(Object.entries(SETTINGS))("lists %s with its flag, default and meaning", (name, setting) => {
    const flag = `--${name.toLowerCase().replaceAll("_", "-")}`;
    expect(settingsHelp()).toMatch(new RegExp(`^ *${flag} +${name} `, "m"));
    expect(settingsHelp()).toContain(setting.help);
  });
});

test("what follows a misspelt flag and the password of an address are not shown", () => {
  expect(faultsOf(["--admin-tokn", "s3cr3t"])).toEqual(["--admin-tokn: there is no such setting"]);
  expect(faultsOf([], { UPSTREAM_URL: "https://user:s3cr3t@v4.example.org/" })).toEqual([
    'UPSTREAM_URL: "https://***@v4.example.org/" must be a URL without user, query or fragment',
  ]);
});

test("secrets are never shown, not even when they are wrong", () => {
  const secrets = ["ADMIN_TOKEN", "GATEWAY_SECRET", "DATABASE_URL", "REDIS_URL"] as const;
  for (const name of secrets) expect(SETTINGS[name]).toMatchObject({ secret: true });
  const environment = Object.fromEntries(secrets.map((name) => [name, "s3cr3t-value"]));
  const told = faultsOf(["--admin-host", "0.0.0.0"], { ...environment }).join("\n");
  expect(told).toMatch(/REDIS_URL/);
  expect(told).not.toContain("s3cr3t-value");
  expect(settingsHelp()).not.toContain("s3cr3t-value");
});
