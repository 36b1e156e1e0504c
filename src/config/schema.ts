/** Every setting: its name as an environment variable, its default, and what it means. */
import { readWindows } from "../pipeline/brown-outs/read-windows.ts";
import {
  addresses,
  day,
  diskSize,
  integer,
  LONGEST_TIMER_MS,
  oneOf,
  onOffSetting,
  origins,
  port,
  portOrOff,
  postgresUrl,
  rate,
  redisUrl,
  size,
  text,
  url,
  words,
  booleanSetting,
  type SettingParser,
} from "./setting-types.ts";

export interface Setting<T> {
  readonly read: SettingParser<T>;
  /** As one would type it; undefined: unset. */
  readonly default: string | undefined;
  readonly help: string;
  readonly secret?: true;
}

type Unset<T> = Omit<Setting<T>, "default"> & { readonly default: undefined };
type Set<T> = Omit<Setting<T>, "default"> & { readonly default: string };

const set = <T>(read: SettingParser<T>, fallback: string, help: string): Set<T> => ({
  read,
  default: fallback,
  help,
});
const unset = <T>(read: SettingParser<T>, help: string): Unset<T> => ({ read, default: undefined, help });
const secret = (help: string, read = text): Unset<string> & { secret: true } => ({
  ...unset(read, help),
  secret: true,
});

const MOST_SECONDS = Math.floor(LONGEST_TIMER_MS / 1000);

export const SETTINGS = {
  HOST: set(text, "127.0.0.1", "Public listener: address"),
  PORT: set(port, "8080", "Public listener: port"),
  ADMIN_HOST: set(text, "127.0.0.1", "Admin listener: address"),
  ADMIN_PORT: set(portOrOff, "8081", "Admin listener: port, or off"),
  ADMIN_TOKEN: secret("Required on the admin listener when set; /healthz and /readyz are always open"),
  UPSTREAM_URL: unset(url, "Base of the v4 service; /v4/... is appended. Unset: the embedded sandbox"),
  AUTH_URL: unset(url, "Base of the login server. Unset: the embedded one"),
  SANDBOX: set(
    booleanSetting,
    "false",
    "With NODE_ENV=production: serve the embedded sandbox, whose tokens are published, where UPSTREAM_URL is unset",
  ),
  SEED: unset(text, "File of accounts that the embedded sandbox has besides its own"),
  ALLOW_HTTP_UPSTREAM: set(
    booleanSetting,
    "false",
    "Allow plain http to a v4 service that is not on this machine",
  ),
  MAPPINGS_DIR: unset(text, "Folder of the mapping pack. Unset: ./mappings, else the pack that came along"),
  WORDS: set(words, "vm=vm,orch=orch", "The service's own product words"),
  DATA_DIR: set(text, "./data", "Folder of the embedded audit store"),
  DATABASE_URL: {
    ...unset(
      postgresUrl,
      "PostgreSQL audit store, for several replicas: postgres://user:password@host:5432/database",
    ),
    secret: true,
  },
  REDIS_URL: secret("Shared rate limits, tokens and grants, for several replicas", redisUrl),
  RATE_LIMIT: set(rate, "1600/120", "Requests per seconds and token (per address where there is no token)"),
  RATE_LIMIT_CREATE: set(rate, "10/30", "The same for creating instances"),
  TOKEN_TTL_SECONDS: set(integer(1, MOST_SECONDS), "300", "How long what is known of a token is believed"),
  TOKEN_NEGATIVE_TTL_SECONDS: set(
    integer(0, MOST_SECONDS),
    "30",
    "How long a refused token is refused without asking v4",
  ),
  TOKEN_CACHE_SIZE: set(integer(1, 1_000_000), "10000", "Tokens remembered"),
  GATEWAY_SECRET: secret("Key under which stored grants are encrypted"),
  CATALOG_TTL_SECONDS: set(
    integer(1, MOST_SECONDS),
    "600",
    "How long a catalog is served before it is read again",
  ),
  UPSTREAM_TIMEOUT_MS: set(integer(1, LONGEST_TIMER_MS), "30000", "How long v4 may take to answer"),
  UPSTREAM_CONNECTIONS: set(integer(1, 10_000), "64", "Connections to v4"),
  BODY_LIMIT: set(size, "1mb", "Larger request bodies are refused"),
  AUDIT: set(oneOf("full", "metadata", "off"), "full", "What is recorded: full, metadata (no bodies) or off"),
  AUDIT_DURABILITY: set(
    oneOf("relaxed", "strict"),
    "relaxed",
    "relaxed: committed within 100 ms; strict: before the client gets its answer",
  ),
  AUDIT_BODY_LIMIT: set(size, "64kb", "Larger bodies are recorded cut, and marked so"),
  AUDIT_RETENTION_DAYS: set(integer(1, 36_500), "30", "Days that records are kept"),
  AUDIT_SIZE_LIMIT: set(diskSize, "2gb", "What the records may take: above it the oldest are deleted"),
  NATIVE_LANE: set(onOffSetting, "on", "Forward Authorization: Bearer requests untouched; off: 401"),
  DEPRECATION_DATE: unset(day, "Sent as Deprecation (RFC 9745) on alpha answers"),
  SUNSET_DATE: unset(day, "Sent as Sunset (RFC 8594) on alpha answers"),
  BROWN_OUTS: unset(
    readWindows,
    "When alpha answers 500 on purpose, to find forgotten clients: cron fields, a length, and what it is for, e.g.\n" +
      '      "0 10 * * 1 for 15m; routes=GET /vm/instances; clients=0123456789abcdef; zone=UTC"; several with |',
  ),
  SUNSET_LINK: unset(url, 'Sent as Link with rel="sunset" on alpha answers'),
  CORS_ORIGINS: unset(origins, "Origins of browser clients, separated by commas, or *"),
  TRUST_PROXY: unset(addresses, "Addresses of proxies in front, whose X-Forwarded-For is believed"),
  WORKERS: set(integer(1, 64), "1", "Processes on this machine"),
  LOG_LEVEL: set(
    oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    "info",
    "How much is logged",
  ),
  LOG_FORMAT: set(
    oneOf("auto", "json", "text"),
    "auto",
    "json, text, or auto: text on a terminal, json elsewhere",
  ),
  SHUTDOWN_GRACE_MS: set(
    integer(0, LONGEST_TIMER_MS),
    "10000",
    "How long requests in flight may take after SIGTERM",
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

export type Settings = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends {
    default: undefined;
    read: SettingParser<infer T>;
  }
    ? T | undefined
    : (typeof SETTINGS)[Name] extends { read: SettingParser<infer T> }
      ? T
      : never;
};
