import { describe, expect, test } from "@jest/globals";
import {
  givenTexts,
  mayShareAddresses,
  redactSettings,
  readEnvironment,
  readOptions,
  readSettings,
  SettingsError,
  type SettingOptions,
  type SettingTexts,
} from "../../../src/base/settings/settings.ts";
import { SETTINGS, SETTING_SECTIONS, type Settings } from "../../../src/base/settings/setting-definitions.ts";

function problemsOf(read: () => Settings): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

const environmentProblems = (environment: Record<string, string>, flags: SettingTexts = {}) =>
  problemsOf(() => readEnvironment(environment, flags));

test("all defaults are valid", () => {
  expect(readEnvironment({})).toMatchObject({
    PORT: 8080,
    RATE_LIMIT: { points: 1600, seconds: 120 },
    BODY_LIMIT: 1024 * 1024,
    AUDIT_BODY_LIMIT: 256 * 1024,
    NATIVE_PROXY: true,
    ALLOW_HTTP_UPSTREAM: false,
  });
});

describe("invalid values are reported", () => {
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
    ["USAGE_RETENTION_DAYS", ["0", "999999999999"]],
    ["DATABASE_URL", ["db.example.org", "mysql://db/audit", "/var/run/postgresql"]],
    ["AUDIT_SIZE_LIMIT", ["2", "1mb", "0gb", "2kb", "2000tb"]],
    ["NATIVE_PROXY", ["true", "false"]],
    ["CORS_ORIGINS", ["app.example.org", "https://a/", "https://a/b", "https://a, https://b/x", "null"]],
    ["TRUST_PROXY", ["true", "10.0.0.0/33", "10.0.0", "::1/129", "proxy.example.org", "10.0.0.0/8/8", "no"]],
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
    ["REUSE_PORT", ["yes", "1", "on"]],
    ["LOG_LEVEL", ["verbose", "INFO"]],
    ["SHUTDOWN_GRACE_MS", ["-1", "10s", "2147483648"]],
  ];
  test.each(table.flatMap(([name, values]) => values.map((value) => [name, value])))(
    "%s=%s",
    (name = "", value = "") => {
      expect(environmentProblems({ [name]: value })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: (?:".*"|the value) is invalid: .+`)),
      ]);
    },
  );

  test("all of them together, in one error with a code", () => {
    const environment = Object.fromEntries(table.map(([name, [value = ""]]) => [name, value]));
    const problems = environmentProblems(environment);
    for (const name of Object.keys(environment))
      expect(problems.filter((problem) => problem.startsWith(`${name}: `))).toHaveLength(1);
    expect(problems).toHaveLength(table.length);
    const error = new SettingsError(problems);
    expect(error.code).toBe("AG_SETTINGS_INVALID");
    expect(error.message.split("\n")).toEqual([
      "These settings are invalid:",
      ...problems.map((problem) => `  ${problem}`),
    ]);
  });
});

describe("settings that depend on each other", () => {
  test.each([
    [{ UPSTREAM_URL: "http://v4.example.org" }, /^UPSTREAM_URL: .*ALLOW_HTTP_UPSTREAM/],
    [{ UPSTREAM_URL: "http://127.0.0.1.example.org" }, /^UPSTREAM_URL/],
    [{ UPSTREAM_URL: "http://128.0.0.1" }, /^UPSTREAM_URL/],
    [{ AUTH_URL: "http://login.example.org" }, /^AUTH_URL/],
    [{ LEGACY_URL: "http://old.example.org" }, /^LEGACY_URL: .*ALLOW_HTTP_UPSTREAM/],
    [{ LEGACY_URL: "https://old.example.org", SUNSET_FILE: "a.yaml" }, /^SUNSET_FILE: .*LEGACY_URL/],
    [{ LEGACY_URL: "https://old.example.org", MIGRATION_PAGE: "on" }, /^MIGRATION_PAGE: .*LEGACY_URL/],
    [
      { NODE_ENV: "production", LEGACY_URL: "https://old.example.org", MAPPINGS_DIR: "pack" },
      /^UPSTREAM_URL: .*SANDBOX/,
    ],
    [{ ADMIN_HOST: "0.0.0.0" }, /^ADMIN_HOST: .*ADMIN_TOKEN/],
    [{ ADMIN_HOST: "::" }, /^ADMIN_HOST/],
    [{ ADMIN_HOST: "0.0.0.0", ADMIN_TOKEN: "t".repeat(15) }, /^ADMIN_TOKEN: .*16 characters.*ADMIN_HOST/],
    [{ GATEWAY_SECRET: "s".repeat(15) }, /^GATEWAY_SECRET: .*16 characters/],
    [{ PORT: "9000", ADMIN_PORT: "9000" }, /^ADMIN_PORT: /],
    [{ NODE_ENV: "production" }, /^UPSTREAM_URL: .*SANDBOX/],
    [{ UPSTREAM_CA: "ca.pem" }, /^UPSTREAM_CA: only https/],
    [{ UPSTREAM_CA: "ca.pem", UPSTREAM_URL: "http://127.0.0.1" }, /^UPSTREAM_CA: only https/],
    [{ UPSTREAM_CERT: "a.pem", UPSTREAM_URL: "https://v4.example.org" }, /^UPSTREAM_CERT: .*UPSTREAM_KEY/],
    [{ UPSTREAM_KEY: "a.key", UPSTREAM_URL: "https://v4.example.org" }, /^UPSTREAM_KEY: .*UPSTREAM_CERT/],
    [{ SEED: "seed.yaml", UPSTREAM_URL: "https://v4.example.org" }, /^SEED: /],
    [{ REDIS_URL: "redis://localhost" }, /^GATEWAY_SECRET: /],
    [
      { ROLLOUT_FILE: "rollout.yaml" },
      /^ROLLOUT_FILE: it says who still gets the old service; set LEGACY_URL/,
    ],
    [
      { ROLLOUT_FILE: "rollout.yaml", LEGACY_URL: "http://127.0.0.1" },
      /^ROLLOUT_FILE: the gateway observes, and translates nothing; set UPSTREAM_URL/,
    ],
    [{ REUSE_PORT: "true" }, /^REUSE_PORT: .*REDIS_URL/],
  ])("%j is invalid", (environment, problem) => {
    expect(environmentProblems(environment as Record<string, string>)).toEqual([
      expect.stringMatching(problem),
    ]);
  });

  test.each([
    { UPSTREAM_URL: "https://v4.example.org/base" },
    { LEGACY_URL: "https://old.example.org/base" },
    { LEGACY_URL: "http://127.0.0.1:9000", NODE_ENV: "production" },
    { LEGACY_URL: "https://old.example.org", UPSTREAM_CA: "ca.pem" },
    { UPSTREAM_URL: "http://127.9.9.9:8000" },
    { UPSTREAM_URL: "http://[::1]:8000" },
    { UPSTREAM_URL: "http://localhost" },
    { UPSTREAM_URL: "http://v4.example.org", ALLOW_HTTP_UPSTREAM: "true" },
    { ADMIN_HOST: "0.0.0.0", ADMIN_TOKEN: "t".repeat(16) },
    { ADMIN_TOKEN: "t" },
    { ADMIN_HOST: "0.0.0.0", ADMIN_PORT: "off", ADMIN_TOKEN: "t" },
    { ADMIN_HOST: "0.0.0.0", ADMIN_PORT: "off" },
    { PORT: "0", ADMIN_PORT: "0" },
    { NODE_ENV: "production", SANDBOX: "true" },
    { ROLLOUT_FILE: "rollout.yaml", LEGACY_URL: "http://127.0.0.1", UPSTREAM_URL: "http://127.0.0.1" },
    { REDIS_URL: "redis://localhost", GATEWAY_SECRET: "s".repeat(16) },
    { REUSE_PORT: "true", REDIS_URL: "redis://localhost", GATEWAY_SECRET: "s".repeat(16) },
  ])("%j is valid", (environment) => {
    expect(environmentProblems(environment as unknown as Record<string, string>)).toEqual([]);
  });
});

describe("values of a process", () => {
  test("a flag wins over the environment, and an empty variable is unset", () => {
    const environment = { PORT: "1111", HOST: "", UPSTREAM_URL: "" };
    expect(readEnvironment(environment, { PORT: "2222" }).PORT).toBe(2222);
    expect(readEnvironment(environment)).toMatchObject({ PORT: 1111, HOST: "127.0.0.1" });
    expect(readEnvironment(environment).UPSTREAM_URL).toBeUndefined();
  });

  test("an invalid variable is accepted if a flag overrides it", () => {
    expect(environmentProblems({ PORT: "none" }, { PORT: "2222" })).toEqual([]);
  });

  test("variables that are not settings are ignored", () => {
    expect(givenTexts({ PATH: "/bin", __proto__: "x", PORT: "1" })).toEqual({ PORT: "1" });
  });
});

describe("options of a program", () => {
  test("take typed values and texts", () => {
    const options: SettingOptions = {
      port: 0,
      adminPort: "off",
      upstreamUrl: new URL("https://v4.example.org"),
      words: { vm: "acme" },
      rateLimit: { points: 5, seconds: 60 },
      rateLimitCreate: "1/60",
      nativeProxy: false,
      sandbox: "true",
      bodyLimit: 1024,
      auditSizeLimit: "10mb",
      corsOrigins: ["https://app.example.org"],
      trustProxy: "10.0.0.1, 10.1.0.0/16",
      sunsetFile: "plan.yaml",
      logLevel: "silent",
    };
    const settings = readOptions(options);
    expect(settings).toMatchObject({
      HOST: "127.0.0.1",
      PORT: 0,
      ADMIN_PORT: "off",
      UPSTREAM_URL: new URL("https://v4.example.org"),
      WORDS: { vm: "acme" },
      RATE_LIMIT: { points: 5, seconds: 60 },
      RATE_LIMIT_CREATE: { points: 1, seconds: 60 },
      NATIVE_PROXY: false,
      SANDBOX: true,
      BODY_LIMIT: 1024,
      AUDIT_SIZE_LIMIT: 10 * 1024 * 1024,
      CORS_ORIGINS: ["https://app.example.org"],
      TRUST_PROXY: ["10.0.0.1", "10.1.0.0/16"],
      SUNSET_FILE: "plan.yaml",
      LOG_LEVEL: "silent",
    });
  });

  test("have the defaults of the settings", () => {
    const defaults = readSettings({ SANDBOX: true });
    expect(readOptions({ sandbox: true })).toEqual(defaults);
    expect(readOptions({ sandbox: true, port: undefined })).toEqual(defaults);
  });

  test("require the address of v4, or the sandbox", () => {
    expect(problemsOf(() => readOptions({}))).toEqual([
      "upstreamUrl: it is required; to use the embedded sandbox, whose tokens are public, set sandbox to true",
    ]);
  });

  test("are reported by their own names, all together", () => {
    const options = { port: 65_536, quietDays: 1.5, nativeProxy: "yes", corsOrigins: ["x"], dataDir: 5 };
    expect(problemsOf(() => readOptions(options as unknown as SettingOptions))).toEqual([
      "port: 65536 is invalid: must be a whole number from 0 to 65535",
      'corsOrigins: ["x"] is invalid: must be origins such as https://app.example.org, or *; "x" is not',
      'nativeProxy: "yes" is invalid: must be one of on, off',
      "quietDays: 1.5 is invalid: must be a whole number from 1 to 400",
      "dataDir: 5 is invalid: must be a text",
    ]);
  });

  test.each(["prot", "constructor", "UPSTREAM_URL"])("%s is not an option", (name) => {
    expect(problemsOf(() => readOptions({ sandbox: true, [name]: "x" }))).toEqual([
      `${name}: there is no such option`,
    ]);
  });

  test.each([
    { rateLimit: { points: 0, seconds: 1 } },
    { rateLimit: { points: 1, seconds: 0.5 } },
    { words: { vm: "A b" } },
    { adminPort: null },
    { upstreamUrl: 5 },
    { bodyLimit: -1 },
    { bodyLimit: Number.NaN },
    { sunsetFile: 5 },
  ])("%j is invalid", (options) => {
    const [name] = Object.keys(options);
    expect(problemsOf(() => readOptions(options as unknown as SettingOptions))).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .+ is invalid: .+`)),
    ]);
  });
});

test("each setting has a meaning and is in one section", () => {
  const names = Object.values(SETTING_SECTIONS).flat();
  expect(names).toEqual(Object.keys(SETTINGS));
  for (const { meaning } of Object.values(SETTINGS)) expect(meaning).toMatch(/^[`A-Z]/);
});

describe("secrets", () => {
  const names = ["ADMIN_TOKEN", "GATEWAY_SECRET", "DATABASE_URL", "REDIS_URL"] as const;
  const environment = Object.fromEntries(names.map((name) => [name, "s3cr3t-value"]));

  test.each(names)("%s is a secret", (name) => {
    expect(SETTINGS[name]).toMatchObject({ secret: true });
  });

  test("are not in problems, not even when they are invalid", () => {
    const problems = environmentProblems(environment, { ADMIN_HOST: "0.0.0.0" }).join("\n");
    expect(problems).toContain("REDIS_URL: the value is invalid: must be redis://");
    expect(problems).not.toContain("s3cr3t-value");
  });

  test("the password of an address is not in problems", () => {
    expect(environmentProblems({ UPSTREAM_URL: "https://user:s3cr3t@v4.example.org/" })).toEqual([
      'UPSTREAM_URL: "https://***@v4.example.org/" is invalid: must be a URL without user, query or fragment',
    ]);
  });

  test.each([
    ["UPSTREAM_URL", "https://v4.example.org/?key=s3cr3t", "https://v4.example.org/?***"],
    ["UPSTREAM_URL", "https://v4.example.org/#s3cr3t", "https://v4.example.org/#***"],
    ["AUTH_URL", "https://s3cr3t:s3/cr3t@login.example.org", "https://***@login.example.org"],
    ["AUTH_URL", "https://s3cr3t:s3?cr3t@login.example.org", "https://***"],
    ["AUTH_URL", "https://login.example.org?mail=me@example.org&key=s3cr3t", "https://***"],
    ["PUBLIC_URL", "s3cr3t:s3cr3t@gateway.example.org?key=s3cr3t", "***@gateway.example.org?***"],
    ["PUBLIC_URL", "https:/s3cr3t:s3cr3t@gateway.example.org", "***@gateway.example.org"],
    ["AUDIT_OTLP", "ftp://s3cr3t@collector", "ftp://***@collector"],
    [
      "CORS_ORIGINS",
      "https://a.example,https://s3cr3t:s3cr3t@b.example",
      "https://a.example,https://***@b.example",
    ],
  ])("of an address are not quoted: %s=%s", (name, value, quoted) => {
    const problems = environmentProblems({ [name]: value }).join("\n");
    expect(problems).toContain(`${name}: "${quoted}" is invalid`);
    expect(problems).not.toMatch(/s3|cr3t/);
  });

  test("are masked wholly, unless they are addresses", () => {
    expect(
      redactSettings({
        ADMIN_TOKEN: "vault://path/key",
        GATEWAY_SECRET: "a://b/c",
        REDIS_URL: "redis://:s3@host/1?a=b",
      }),
    ).toEqual({ ADMIN_TOKEN: "***", GATEWAY_SECRET: "***", REDIS_URL: "redis://***@host/1" });
  });

  test("are masked for the log and the welcome", () => {
    const texts = { ...environment, DATABASE_URL: "postgres://me:s3cr3t-value@db/audit?x=1", PORT: "1" };
    expect(redactSettings(texts)).toEqual({
      ADMIN_TOKEN: "***",
      GATEWAY_SECRET: "***",
      DATABASE_URL: "postgres://***@db/audit",
      REDIS_URL: "***",
      PORT: "1",
    });
  });
});

describe("addresses are those of clients", () => {
  const isShared = (value: string | undefined): boolean =>
    mayShareAddresses(readEnvironment(value === undefined ? {} : { TRUST_PROXY: value }));

  test("where TRUST_PROXY names the proxies, or says that there are none", () => {
    expect(["10.0.0.1", "none"].map(isShared)).toEqual([false, false]);
    expect(readEnvironment({ TRUST_PROXY: "none" }).TRUST_PROXY).toEqual([]);
  });

  test("not where it is unset or empty: they may be those of a proxy", () => {
    expect([undefined, ""].map(isShared)).toEqual([true, true]);
  });
});
