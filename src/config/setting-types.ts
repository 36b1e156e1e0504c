/** Readers of setting texts. Each gives the value or throws an error that says what was expected. */
import { BlockList, isIP } from "node:net";
import { parseProductWords, type ProductWords } from "./product-words.ts";

export type SettingParser<T> = (text: string) => T;

const expected = (what: string): never => {
  throw new Error(`must be ${what}`);
};

/** Above this, in milliseconds, a timer of the runtime fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

export const text: SettingParser<string> = (value) => value;

export const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER): SettingParser<number> =>
  (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= least && number <= most ? number : expected(`a whole number from ${least} to ${most}`);
  };

export const port: SettingParser<number> = integer(0, 65_535);

export const portOrOff: SettingParser<number | "off"> = (value) => {
  if (value === "off") return "off";
  return /^\d{1,5}$/.test(value) && Number(value) <= 65_535
    ? Number(value)
    : expected("a port (0 to 65535) or off");
};

export const oneOf =
  <const T extends string>(...words: readonly T[]): SettingParser<T> =>
  (value) =>
    words.find((word) => word === value) ?? expected(`one of ${words.join(", ")}`);

export const booleanSetting: SettingParser<boolean> = (value) => oneOf("true", "false")(value) === "true";

export const onOffSetting: SettingParser<boolean> = (value) => oneOf("on", "off")(value) === "on";

/** What is read into memory whole, and into one string: the runtime has none longer than 512 MB. */
const GREATEST_SIZE = 256 * 1024 * 1024;

const LEAST_DISK_SIZE = 10 * 1024 ** 2;
const GREATEST_DISK_SIZE = 1000 * 1024 ** 4;

/** Bytes, as `16kb`, `1mb` or a plain number. */
export const size: SettingParser<number> = (value) => {
  const [, digits, unit = ""] = /^(\d{1,9})(kb|mb)?$/i.exec(value) ?? [];
  const bytes = Number(digits) * { "": 1, kb: 1024, mb: 1024 * 1024 }[unit.toLowerCase() as "" | "kb" | "mb"];
  return bytes <= GREATEST_SIZE ? bytes : expected("a size such as 16kb, 1mb or 1048576, at most 256mb");
};

/** Bytes on a disk, as `500mb`, `2gb` or `1tb`. A few megabytes are needed for an empty store. */
export const diskSize: SettingParser<number> = (value) => {
  const [, digits, unit = ""] = /^(\d{1,6})(mb|gb|tb)$/i.exec(value) ?? [];
  const bytes =
    Number(digits) * 1024 ** ({ mb: 2, gb: 3, tb: 4 }[unit.toLowerCase() as "mb" | "gb" | "tb"] ?? 0);
  return bytes >= LEAST_DISK_SIZE && bytes <= GREATEST_DISK_SIZE
    ? bytes
    : expected("a size such as 500mb, 2gb or 1tb, from 10mb to 1000tb");
};

export interface RateSetting {
  readonly points: number;
  readonly seconds: number;
}

/**
 * Requests per seconds. Whole seconds: the shared store would take a shorter window for one that never ends.
 * Six digits of them: a timer ends the window, and a longer one would end at once.
 */
export const rate: SettingParser<RateSetting> = (value) => {
  const [, points, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(value) ?? [];
  if (!points || !seconds)
    return expected("requests/seconds, whole numbers above 0, such as 1600/120 (seconds up to 999999)");
  return { points: Number(points), seconds: Number(seconds) };
};

export const url: SettingParser<URL> = (value) => {
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) return expected("an http or https URL");
  if (parsed.username || parsed.password || parsed.search || parsed.hash)
    return expected("a URL without user, query or fragment");
  return parsed;
};

/** User, password and parameters of the connection may stand in it. */
export const postgresUrl: SettingParser<string> = (value) => {
  const protocol = URL.canParse(value) ? new URL(value).protocol : "";
  return ["postgres:", "postgresql:"].includes(protocol)
    ? value
    : expected("an address such as postgres://user:password@host:5432/database");
};

function decodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

/** `redis://`, or `rediss://` over TLS, with user, password and a database's number as they are needed. */
export const redisUrl: SettingParser<string> = (value) => {
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  const good =
    parsed !== undefined &&
    ["redis:", "rediss:"].includes(parsed.protocol) &&
    parsed.hostname !== "" &&
    /^(?:\/\d{0,6})?$/.test(parsed.pathname) &&
    decodable(`-${parsed.username}${parsed.password}`) &&
    !parsed.search &&
    !parsed.hash;
  return good ? value : expected("redis://[user:password@]host[:port][/database], or rediss:// for TLS");
};

/** `YYYY-MM-DD`, a day of the calendar. */
export const day: SettingParser<Date> = (value) => {
  const date = new Date(`${value}T00:00:00Z`);
  const real =
    /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
  return real ? date : expected("a date, YYYY-MM-DD");
};

export const list: SettingParser<readonly string[]> = (value) =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);

/** Origins of browser clients, or `*`. */
export const origins: SettingParser<readonly string[]> = (value) => {
  const all = list(value);
  const bad = all.find(
    (origin) => origin !== "*" && (!URL.canParse(origin) || new URL(origin).origin !== origin),
  );
  return bad === undefined
    ? all
    : expected(`origins such as https://app.example.org, or *; "${bad}" is none`);
};

/** Addresses and networks (`10.0.0.0/8`) of proxies in front. */
export const addresses: SettingParser<readonly string[]> = (value) => {
  const all = list(value);
  const good = (entry: string): boolean => {
    const [address = "", bits, ...more] = entry.split("/");
    const family = isIP(address);
    if (family === 0 || more.length > 0) return false;
    return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  };
  const bad = all.find((entry) => !good(entry));
  return bad === undefined ? all : expected(`addresses or networks such as 10.0.0.0/8; "${bad}" is none`);
};

export const words: SettingParser<ProductWords> = parseProductWords;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Does a host name only this machine? */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  if (address === "localhost") return true;
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
}
