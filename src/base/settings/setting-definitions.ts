/** Every setting: its name as an environment variable, its type, its default, and what it means. */
import { z } from "zod";
import { descriptions, secret, unset, withDefault, type SettingDescription } from "./describe-setting.ts";
import {
  addresses,
  diskSize,
  headerName,
  integer,
  LONGEST_TIMER_MS,
  LONGEST_TIMER_SECONDS,
  memorySize,
  onOrOff,
  oneOf,
  origins,
  port,
  portOrOff,
  postgresUrl,
  productWords,
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
    "Several processes of this machine may listen at `PORT`, each with an `ADMIN_PORT` of its own. They need `REDIS_URL`, as replicas do. On Linux: see [Several processes on one machine](../guide/run-in-production.md#several-processes-on-one-machine)",
  ),
  ADMIN_HOST: withDefault(
    text,
    "127.0.0.1",
    "Address of the admin listener. Without `ADMIN_TOKEN` it must be a loopback address",
  ),
  ADMIN_PORT: withDefault(portOrOff, "8081", "Port of the admin listener. `off` disables the listener"),
  ADMIN_TOKEN: secret(
    text,
    "Token that the admin listener requires, of at least 16 characters unless `ADMIN_HOST` is a loopback address. `/healthz` and `/readyz` never require it",
  ),
  TRUST_PROXY: unset(
    addresses,
    "IP addresses or networks (`10.0.0.0/8`) of the proxies in front, separated by commas; no host names. Only they may set the client address in `X-Forwarded-For`",
  ),
  CORS_ORIGINS: unset(origins, "Origins of browser clients, separated by commas, or `*`"),
  BODY_LIMIT: withDefault(
    memorySize,
    "1mb",
    "Largest request body. All bodies in memory together are limited to 32 times this size, 128 MB at most",
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
    "Base URL of the v4 service; its base path in the pack (`/v4`) is appended. It must be `https` or a loopback address. Unset: the embedded sandbox",
  ),
  AUTH_URL: unset(
    url,
    "Base URL of the login server, by the same rules. Unset: that of the embedded sandbox. With `UPSTREAM_URL` alone there is none, and `/oauth/...` and `/logout` get 404",
  ),
  LEGACY_URL: unset(
    url,
    "Base URL of the old service, by the same rules: clients' credentials are passed to it. Without `UPSTREAM_URL`, `MAPPINGS_DIR` and `SANDBOX` the gateway observes: every request is passed to the old service unchanged, and recorded. No pack and no v4 is needed. `UPSTREAM_CONNECTIONS` and `UPSTREAM_CA` hold for the old service, too, and it may take four times `UPSTREAM_TIMEOUT_MS`",
  ),
  ALLOW_HTTP_UPSTREAM: withDefault(
    trueOrFalse,
    "false",
    "Allow plain `http` to another machine, for example to a sidecar's service",
  ),
  UPSTREAM_CA: unset(
    text,
    "PEM file of authorities whose certificates v4 and the login server may have, in addition to the public ones. The three files are read again when they change, for new connections. If one is invalid, the certificates that were read before stay",
  ),
  UPSTREAM_CERT: unset(
    text,
    "PEM file of the client certificate for v4, with its chain. The login server gets it only if it has the origin of v4",
  ),
  UPSTREAM_KEY: unset(text, "PEM file of the private key of `UPSTREAM_CERT`, without a passphrase"),
  UPSTREAM_TIMEOUT_MS: withDefault(
    milliseconds(1),
    "30000",
    "Timeout of a v4 call. File transfers may take four times as long. A response that is only forwarded may take longer than that: the limit is for its head, and for each pause in its body",
  ),
  UPSTREAM_CONNECTIONS: withDefault(
    integer(1, 10_000),
    "64",
    "Connections to v4. File transfers have additional connections: an eighth of this number, at least 2",
  ),
  CATALOG_TTL_SECONDS: withDefault(
    seconds(1),
    "600",
    "Lifetime of the catalogs that the pack has, in the shipped one datacenters, distributions, kernels and types",
  ),
  NATIVE_PROXY: withDefault(
    onOrOff,
    "on",
    "Forward requests with v4's own scheme (`Authorization: Bearer`) to v4, if the pack [distinguishes them](pack-format.md#credentials). `off` returns 401 for them",
  ),
  SANDBOX: withDefault(
    trueOrFalse,
    "false",
    "Use the embedded sandbox although `NODE_ENV` is `production`. Its tokens are public",
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
    "Folder of a second pack, the candidate. It is compared with live traffic, testers (`tester` in `CLIENTS_FILE`) ask for it with `X-Pack`, and `promote` makes it the active one: see [Compare a new edition](../guide/write-a-pack.md#compare-a-new-edition-with-live-traffic). Unset: none of it",
  ),
  CANDIDATE_RATE: withDefault(
    integer(0, 1000),
    "20",
    "Most comparisons with the candidate per second and process. Requests above it wait a few seconds, 100 of them and 16 MB at most, and are then left out",
  ),
  WORDS: withDefault(
    productWords,
    "vm=vm,orch=orch",
    "Product names of your service, for example `vm=acme,orch=acmeks`",
  ),
  PUBLIC_URL: unset(
    url,
    "Base URL at which clients reach the gateway. Required by a pack whose links have a host (`links: absolute`). Where clients have no credentials, requests under other host names get 421",
  ),
};

const clients = {
  CLIENTS_FILE: unset(
    text,
    "YAML file that gives clients names: see [Client directory](clients-file.md). Read at start, and again when it changes or on SIGHUP. If it is invalid, the names that were read before stay",
  ),
  SUNSET_FILE: unset(
    text,
    "YAML file with the plan by which alpha ends: see [Sunset plan](sunset-file.md). Read at start, and again when it changes or on SIGHUP. If it is invalid, the plan that was read before stays",
  ),
  ROLLOUT_FILE: unset(
    text,
    "YAML file that says who gets the translation, and who the old service of `LEGACY_URL`: see [Rollout file](rollout-file.md). Read at start, and again when it changes or on SIGHUP. If it is invalid, what was read before stays",
  ),
  NOTICES_FILE: unset(
    text,
    "YAML file with the receivers of notices about the migration: see [Notices](notices.md). Read at start, and again when it changes or on SIGHUP. If it is invalid, the receivers that were read before stay",
  ),
  CLIENT_HEADER: unset(
    headerName,
    "Request header in which a proxy of `TRUST_PROXY` gives the name of the client. From other addresses it has no effect. It is never sent to v4",
  ),
  QUIET_DAYS: withDefault(
    integer(1, 400),
    "7",
    "Days without a request after which a client counts as quiet. A client is ready if it has called v4 and not alpha within them",
  ),
  MIGRATION_PAGE: withDefault(
    onOrOff,
    "off",
    "`on`: clients read what they still have to change at `/migration` below alpha's base path, and anybody the description of alpha at `/openapi.json`: see [Pages for clients](responses.md#pages-for-clients). It needs the audit",
  ),
};

const tokens = {
  RATE_LIMIT: withDefault(
    rate,
    "1600/120",
    "The rate limit of each token: requests/seconds. `1600/120` is 1600 requests in 120 seconds. Requests without a token count per client address. Requests with an accepted token in v4's own dialect do not count: v4 limits them",
  ),
  RATE_LIMIT_CREATE: withDefault(
    rate,
    "10/30",
    "The same for routes with `rate_limit: create`, in the shipped pack those that create instances",
  ),
  TOKEN_TTL_SECONDS: withDefault(seconds(1), "300", "Lifetime of cached token info"),
  TOKEN_NEGATIVE_TTL_SECONDS: withDefault(
    seconds(0),
    "30",
    "How long a token that v4 rejected is rejected without asking v4",
  ),
  TOKEN_CACHE_SIZE: withDefault(
    integer(1, 1_000_000),
    "10000",
    "Accepted tokens in the cache, and as many rejected ones",
  ),
  UPSTREAM_TOKEN: secret(text, "The token that v4 gets, for a pack with `token: setting`"),
  CLIENT_TOKENS: secret(
    tokenList,
    "The tokens that clients may use, separated by commas. Required with `UPSTREAM_TOKEN` if clients have credentials: v4 does not see their tokens",
  ),
  UPSTREAM_TOKENS_FILE: unset(
    text,
    "YAML file with the token of v4 for each token of a client, for a pack with `token: table`. Read at start, and again when it changes or on SIGHUP. If it is invalid, the tokens that were read before stay",
  ),
  GATEWAY_SECRET: secret(
    secretText,
    "Key that encrypts stored tokens, of at least 16 characters. Unset: a random key, created once in `DATA_DIR`. Required with `REDIS_URL`",
  ),
  REDIS_URL: secret(
    redisUrl,
    "`redis://` or `rediss://`: rate limits, token info and the state store, shared by all replicas",
  ),
};

const audit = {
  AUDIT: withDefault(oneOf("full", "metadata", "off"), "full", "`full`, `metadata` (no bodies) or `off`"),
  AUDIT_DURABILITY: withDefault(
    oneOf("relaxed", "strict"),
    "relaxed",
    "`relaxed`: commit within 100 ms. `strict`: commit before the response ends",
  ),
  AUDIT_BODY_LIMIT: withDefault(memorySize, "256kb", "Longer bodies are recorded cut and marked as cut"),
  AUDIT_RETENTION_DAYS: withDefault(
    integer(1, 36_500),
    "30",
    "Records are deleted, a day (UTC) at a time, when they are all older",
  ),
  USAGE_RETENTION_DAYS: withDefault(
    integer(1, 36_500),
    "400",
    "Summaries of requests by client, route and day are kept for so long, whatever happens to their records",
  ),
  AUDIT_SIZE_LIMIT: withDefault(
    diskSize,
    "2gb",
    "Limit of the audit store. Above it, records of callers without an accepted token are deleted first. Then the client with the largest share loses its oldest bodies and its oldest records. Summaries use additional space: 1 000 000 rows at most, which are about 350 MB. So does the log of SQLite (`audit.db-wal`): 64 MB, and more while somebody reads for long",
  ),
  AUDIT_OTLP: unset(
    url,
    "Base URL of an OpenTelemetry collector, for example `http://127.0.0.1:4318`: records are also sent to it as logs, to `/v1/logs` below it",
  ),
  DATA_DIR: withDefault(text, "./data", "Folder for SQLite: the audit store and the state store"),
  DATABASE_URL: secret(
    postgresUrl,
    "`postgres://...`: the audit store is PostgreSQL, shared by all replicas",
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
    "`on`: alpha responses have a `Server-Timing` header with the milliseconds of each pipeline stage",
  ),
};

/** All settings, from texts or typed values to typed values. */
export const settingsSchema = z.object({ ...listeners, ...v4, ...mapping, ...clients, ...tokens, ...audit });

/** The settings as the gateway uses them. Sizes are in bytes. */
export type Settings = Readonly<z.output<typeof settingsSchema>>;

/** The settings as they are given: texts of the environment, or typed values. */
export type SettingValues = Readonly<z.input<typeof settingsSchema>>;

export type SettingName = keyof Settings;

/** The sections of `serve --help` and of `docs/reference/settings.md`, in order. */
export const SETTING_SECTIONS = {
  Listeners: Object.keys(listeners),
  v4: Object.keys(v4),
  Mapping: Object.keys(mapping),
  Clients: Object.keys(clients),
  "Tokens and rate limits": Object.keys(tokens),
  "Audit and log": Object.keys(audit),
} as Readonly<Record<string, readonly SettingName[]>>;

/** What people read about each setting. */
export const SETTINGS = Object.fromEntries(
  Object.entries(settingsSchema.shape).map(([name, type]) => [name, descriptions.get(type)]),
) as Readonly<Record<SettingName, SettingDescription>>;
