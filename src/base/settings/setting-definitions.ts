/** Every setting: its name as an environment variable, its type, its default, and its description. */
import { z } from "zod";
import { descriptions, secret, unset, withDefault, type SettingDescription } from "./describe-setting.ts";
import {
  diskSize,
  headerName,
  integer,
  LONGEST_TIMER_MS,
  LONGEST_TIMER_SECONDS,
  memorySize,
  oneOf,
  onOrOff,
  origins,
  port,
  portOrOff,
  postgresUrl,
  productWords,
  proxies,
  rate,
  redisUrl,
  secretText,
  text,
  tokenList,
  trueOrFalse,
  url,
} from "./setting-types.ts";

const seconds = (least: number) => integer(least, LONGEST_TIMER_SECONDS);
const milliseconds = (least: number) => integer(least, LONGEST_TIMER_MS);

const listeners = {
  HOST: withDefault(text, "127.0.0.1", "Address of the public listener"),
  PORT: withDefault(port, "8080", "Port of the public listener"),
  REUSE_PORT: withDefault(
    trueOrFalse,
    "false",
    "Lets [several processes](../guide/run-in-production.md#several-processes-on-one-machine) of one Linux machine share `PORT`",
  ),
  ADMIN_HOST: withDefault(
    text,
    "127.0.0.1",
    "Address of the admin listener. Addresses other than loopback need `ADMIN_TOKEN`",
  ),
  ADMIN_PORT: withDefault(portOrOff, "8081", "Port of the admin listener. `off` disables the listener"),
  ADMIN_TOKEN: secret(
    text,
    "Token that the admin listener requires, except for `/healthz` and `/readyz`. At least 16 characters, unless `ADMIN_HOST` is loopback",
  ),
  TRUST_PROXY: unset(
    proxies,
    "IP addresses or networks (`10.0.0.0/8`) of proxies that may set `X-Forwarded-For`, separated by commas, or `none`. They must replace the header of clients, otherwise clients can claim any address. It also defines [how clients are counted](../threat-model.md#who-counts-as-one-client)",
  ),
  CORS_ORIGINS: unset(origins, "Origins of browser clients, separated by commas, or `*`"),
  BODY_LIMIT: withDefault(
    memorySize,
    "1mb",
    "Largest request body. All bodies in memory together can have 32 times this size, at most 128 MB, plus 4 MB for bodies up to 64 kB",
  ),
  SHUTDOWN_GRACE_MS: withDefault(
    milliseconds(0),
    "10000",
    "Time for in-flight requests to finish after SIGTERM",
  ),
};

const v4 = {
  UPSTREAM_URL: unset(
    url,
    "Base URL of v4, without the pack's base path (`/v4`): `https`, or a loopback address. Unset: the embedded sandbox",
  ),
  AUTH_URL: unset(
    url,
    "Base URL of the login server. Unset: the embedded sandbox's, or none with `UPSTREAM_URL`",
  ),
  LEGACY_URL: unset(
    url,
    "Base URL of the old service. Without `UPSTREAM_URL`, `MAPPINGS_DIR` and `SANDBOX` the gateway [observes](cli.md#serve). With `UPSTREAM_URL`, it has no effect without `ROLLOUT_FILE`. `UPSTREAM_CONNECTIONS`, `UPSTREAM_CA` and four times `UPSTREAM_TIMEOUT_MS` apply to it",
  ),
  ALLOW_HTTP_UPSTREAM: withDefault(
    trueOrFalse,
    "false",
    "Allow `http` to another machine, such as a sidecar's service",
  ),
  UPSTREAM_CA: unset(
    text,
    "PEM file of certificate authorities for v4 and the login server, in addition to the public authorities",
  ),
  UPSTREAM_CERT: unset(text, "PEM file of the client certificate for v4, with its chain"),
  UPSTREAM_KEY: unset(text, "PEM file of the private key of `UPSTREAM_CERT`, without a passphrase"),
  UPSTREAM_TIMEOUT_MS: withDefault(
    milliseconds(1),
    "30000",
    "Timeout of a v4 call; a file transfer gets four times as long. For a forwarded response, it is the timeout of the head, and of each pause in the body",
  ),
  UPSTREAM_CONNECTIONS: withDefault(
    integer(1, 10_000),
    "64",
    "Maximum number of connections to v4. File transfers get additional connections: an eighth of this number, at least 2",
  ),
  CATALOG_TTL_SECONDS: withDefault(
    seconds(1),
    "600",
    "Lifetime of cached catalogs, such as datacenters and kernels",
  ),
  NATIVE_PROXY: withDefault(
    onOrOff,
    "on",
    "Forward requests with v4's own scheme (`Authorization: Bearer`) to v4, if the pack [distinguishes them](pack-format.md#credentials). `off` rejects them with 401",
  ),
  SANDBOX: withDefault(
    trueOrFalse,
    "false",
    "Use the embedded sandbox even if `NODE_ENV` is `production`. Its tokens are public",
  ),
  SEED: unset(text, "YAML file of accounts to add to the embedded sandbox"),
};

const mapping = {
  MAPPINGS_DIR: unset(
    text,
    "Folder of the mapping pack. Unset: `./mappings`, or the pack in the installed package if that folder does not exist",
  ),
  CANDIDATE_MAPPINGS_DIR: unset(
    text,
    "Folder of the [candidate](../guide/write-a-pack.md#compare-a-new-version-with-live-traffic), a second pack",
  ),
  CANDIDATE_RATE: withDefault(
    integer(0, 1000),
    "20",
    "Maximum number of comparisons with the candidate per second and process",
  ),
  WORDS: withDefault(
    productWords,
    "vm=vm,orch=orch",
    "Product names of your service, for example `vm=acme,orch=acmeks`",
  ),
  PUBLIC_URL: unset(
    url,
    "Base URL of the gateway for clients. Required with `links: absolute`. If clients have no credentials, other host names get 421",
  ),
};

const clients = {
  CLIENTS_FILE: unset(text, "Names of clients: see [Client directory](clients-file.md)"),
  SUNSET_FILE: unset(text, "The plan for the end of alpha: see [Sunset plan](sunset-file.md)"),
  ROLLOUT_FILE: unset(text, "The clients that get the translation: see [Rollout file](rollout-file.md)"),
  NOTICES_FILE: unset(text, "Receivers of webhooks: see [Notices](notices.md)"),
  CLIENT_HEADER: unset(
    headerName,
    "Request header with the name of the client, at most 64 characters, from a proxy in `TRUST_PROXY`. The proxy must remove it from clients' requests",
  ),
  QUIET_DAYS: withDefault(
    integer(1, 400),
    "7",
    "Number of days whose requests determine the [state](clients-file.md#states) of a client",
  ),
  MIGRATION_PAGE: withDefault(
    onOrOff,
    "off",
    "`on` enables the [pages for clients](responses.md#pages-for-clients), which need the audit",
  ),
};

const tokens = {
  RATE_LIMIT: withDefault(
    rate,
    "1600/120",
    "Rate limit of each token, and of each address for requests without a token: 1600 requests in 120 seconds. v4 itself limits `Bearer` requests with an accepted token",
  ),
  RATE_LIMIT_CREATE: withDefault(
    rate,
    "10/30",
    "Rate limit of routes with `rate_limit: create`, such as creating an instance",
  ),
  TOKEN_TTL_SECONDS: withDefault(seconds(1), "300", "Lifetime of cached token info"),
  TOKEN_NEGATIVE_TTL_SECONDS: withDefault(
    seconds(0),
    "30",
    "How long a rejected token is rejected without a v4 call",
  ),
  TOKEN_CACHE_SIZE: withDefault(
    integer(1, 1_000_000),
    "10000",
    "Maximum number of accepted tokens in the cache, and of rejected tokens",
  ),
  UPSTREAM_TOKEN: secret(text, "Token for v4, for a pack with `token: setting`"),
  CLIENT_TOKENS: secret(
    tokenList,
    "Tokens that clients may use, separated by commas. Required with `UPSTREAM_TOKEN` if clients have credentials",
  ),
  UPSTREAM_TOKENS_FILE: unset(
    text,
    "YAML file with the v4 token for each client token, for a pack with `token: table`",
  ),
  GATEWAY_SECRET: secret(
    secretText,
    "Key that encrypts stored tokens, at least 16 characters. Unset: a random key in `DATA_DIR`. Required with `REDIS_URL`",
  ),
  REDIS_URL: secret(
    redisUrl,
    "`redis://` or `rediss://` URL of the Redis in which all replicas share rate limits, token info and the state store",
  ),
};

const audit = {
  AUDIT: withDefault(oneOf("full", "metadata", "off"), "full", "`full`, `metadata` (no bodies) or `off`"),
  AUDIT_DURABILITY: withDefault(
    oneOf("relaxed", "strict"),
    "relaxed",
    "`relaxed`: commit within 100 ms. `strict`: commit before the response ends",
  ),
  AUDIT_BODY_LIMIT: withDefault(
    memorySize,
    "256kb",
    "Longer bodies are cut in the record. A body that can't be parsed as a whole is not recorded if it contains the name of a secret",
  ),
  AUDIT_RETENTION_DAYS: withDefault(
    integer(1, 36_500),
    "30",
    "Days after which records are deleted, by whole days in UTC",
  ),
  USAGE_RETENTION_DAYS: withDefault(
    integer(1, 36_500),
    "400",
    "Days after which summaries of requests by client, route and day are deleted",
  ),
  AUDIT_SIZE_LIMIT: withDefault(
    diskSize,
    "2gb",
    "Limit of the records in the audit store: [what is deleted first](../internals/audit-format.md#what-is-deleted-first). Summaries (350 MB) and the log of SQLite (64 MB) need additional space",
  ),
  AUDIT_OTLP: unset(url, "Base URL of an OpenTelemetry collector that also gets the records, as logs"),
  DATA_DIR: withDefault(text, "./data", "Folder for SQLite: the audit store and the state store"),
  DATABASE_URL: secret(
    postgresUrl,
    "`postgres://...` URL of the PostgreSQL database in which all replicas share the audit store",
  ),
  LOG_LEVEL: withDefault(
    oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    "info",
    "`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. `debug` logs each request",
  ),
  LOG_FORMAT: withDefault(
    oneOf("auto", "json", "text"),
    "auto",
    "`json`, `text`, or `auto`: text on a terminal, JSON otherwise. The log goes to standard error",
  ),
  SERVER_TIMING: withDefault(
    onOrOff,
    "off",
    "`on` adds a `Server-Timing` header with the time of each pipeline stage to alpha responses",
  ),
};

/** All settings, from texts or typed values to typed values. */
export const settingsSchema = z.object({ ...listeners, ...v4, ...mapping, ...clients, ...tokens, ...audit });

/** The settings as the gateway uses them. Sizes are in bytes. */
export type Settings = Readonly<z.output<typeof settingsSchema>>;

/** The settings as they are given: texts of the environment, or typed values. */
export type SettingValues = Readonly<z.input<typeof settingsSchema>>;

export type SettingName = keyof Settings;

/** The settings that define where the state of clients is stored: in a folder, or in Redis, which processes share. */
export const STATE_SETTINGS = ["DATA_DIR", "REDIS_URL"] as const satisfies readonly SettingName[];

/** The sections of `serve --help` and of `docs/reference/settings.md`, in order. */
export const SETTING_SECTIONS = {
  Listeners: Object.keys(listeners),
  v4: Object.keys(v4),
  Mapping: Object.keys(mapping),
  Clients: Object.keys(clients),
  "Tokens and rate limits": Object.keys(tokens),
  "Audit and log": Object.keys(audit),
} as Readonly<Record<string, readonly SettingName[]>>;

/** The descriptions of all settings for people. */
export const SETTINGS = Object.fromEntries(
  Object.entries(settingsSchema.shape).map(([name, type]) => [name, descriptions.get(type)]),
) as Readonly<Record<SettingName, SettingDescription>>;
