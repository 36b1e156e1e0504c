import { Cron } from "croner";

/** One entry of `BROWN_OUTS`: when alpha is switched off, and for whom. */
export interface BrownOutWindow {
  /** As it was written. */
  readonly text: string;
  /** When it begins, in cron's five fields. */
  readonly pattern: string;
  /** Time zone of the pattern. */
  readonly zone: string;
  readonly lengthMs: number;
  /** Routes as the pack names them; empty: all. */
  readonly routes: readonly string[];
  /** Fingerprints of tokens; empty: all clients, those without a token too. */
  readonly clients: readonly string[];
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const MOST_MS = 24 * 3_600_000;
const SCHEDULE = /^(\S+ \S+ \S+ \S+ \S+) for ([1-9]\d{0,5})([smh])$/;
const EXAMPLE = "0 10 * * 1 for 15m; routes=GET /vm/instances; clients=0123456789abcdef; zone=Europe/Berlin";

function fail(reason: string): never {
  throw new Error(`${reason}; write windows as "${EXAMPLE}", several with | between them`);
}

const list = (text: string): string[] => text.split(",").map((item) => item.trim().replaceAll(/\s+/g, " "));

const matching = (pattern: RegExp, what: string) => (text: string) => {
  const all = list(text);
  const bad = all.find((item) => !pattern.test(item));
  return bad === undefined ? all : fail(`"${bad}" is not a ${what}`);
};

const OPTIONS = {
  routes: matching(/^[A-Z]+ \/\S*$/, "route"),
  clients: matching(/^[0-9a-f]{16}$/, "fingerprint of a token (16 hexadecimal digits in lower case)"),
  zone: (text: string) => [text.trim()],
} as const;

type Options = Partial<Record<keyof typeof OPTIONS, readonly string[]>>;

function readWindowOptions(parts: readonly string[]): Options {
  const options: Options = {};
  for (const part of parts) {
    const [name = "", ...value] = part.split("=");
    const key = name.trim();
    if (!Object.hasOwn(OPTIONS, key)) fail(`"${key}" is not one of ${Object.keys(OPTIONS).join(", ")}`);
    const option = key as keyof typeof OPTIONS;
    if (options[option]) fail(`"${key}" is given twice`);
    options[option] = OPTIONS[option](value.join("="));
  }
  return options;
}

/** The library's own words about a pattern or a zone that it can't use. */
function checkPattern(pattern: string, timezone: string): void {
  try {
    new Cron(pattern, { timezone, mode: "5-part" }).nextRun();
  } catch (error) {
    fail(`"${pattern}" in ${timezone}: ${(error as Error).message}`);
  }
}

function readWindow(text: string): BrownOutWindow {
  const [schedule = "", ...rest] = text.split(";");
  const [, pattern, count, unit = ""] = SCHEDULE.exec(schedule.trim().replaceAll(/\s+/g, " ")) ?? [];
  if (pattern === undefined)
    return fail(`"${schedule.trim()}" is not a cron pattern of five fields "for" a length`);
  const lengthMs = Number(count) * (UNITS[unit] ?? 0);
  if (lengthMs > MOST_MS) fail(`${count}${unit} is longer than a day`);
  const { routes = [], clients = [], zone = [] } = readWindowOptions(rest);
  const [timezone = "UTC"] = zone;
  checkPattern(pattern, timezone);
  return { text: text.trim(), pattern, zone: timezone, lengthMs, routes, clients };
}

/**
 * Reads the windows of `BROWN_OUTS`, separated by `|`:
 *
 *     0 10 * * 1 for 15m; routes=GET /vm/instances; clients=0123456789abcdef; zone=Europe/Berlin
 *
 * Five fields of cron say when a window begins, in UTC unless a zone is given; then how long it lasts (`s`, `m`,
 * `h`; a day at most), and whom it is for. What is left out does not narrow.
 *
 * @throws {Error} naming what is wrong
 */
export function readWindows(text: string): readonly BrownOutWindow[] {
  return text.split("|").map(readWindow);
}
