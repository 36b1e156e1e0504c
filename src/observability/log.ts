import { pino, type LogFn, type Logger } from "pino";
import { drainLog, flushLogSync, reportDroppedLines, writeLogLine } from "./log-output.ts";
import { endRepeats, writeSampled } from "./repeats.ts";
import { toVisibleText } from "../dialect/visible-text.ts";

type CodedLevel = "warn" | "error" | "fatal";

/** A line that operators may alert on. Its code is in docs/reference/errors.md. */
type LogCoded = (
  context: { readonly code: `AG_${string}`; readonly [member: string]: unknown },
  message: string,
) => void;

/** The log. Lines at `warn` level and above need a code; lines below may have one. */
export type Log = Omit<Logger, CodedLevel> & Record<CodedLevel, LogCoded>;

/** `auto`: text if standard error is a terminal, otherwise lines of JSON. */
export type LogFormat = "auto" | "json" | "text";

/** Whether lines are formatted for people, not for machines. */
export const isForPeople = (format: LogFormat): boolean =>
  format === "text" || (format === "auto" && process.stderr.isTTY);

const FATAL = pino.levels.values["fatal"] ?? Infinity;

/** Formats a line of JSON for people: level, message, and the other members. */
function formatAsText(line: string): string {
  const { level, time: _time, msg = "", ...rest } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return toVisibleText(
    `${(pino.levels.labels[Number(level)] ?? "").toUpperCase()} ${String(msg)}${details}\n`,
  );
}

/** What a coded line may have as its reason. */
interface Reasons {
  readonly code?: unknown;
  readonly warnings?: readonly unknown[];
  readonly error?: unknown;
  readonly err?: { readonly message?: unknown };
  readonly message?: unknown;
}

/** The longest part of a reason by which kinds differ. */
const LONGEST_REASON = 200;

function reasonOf({ warnings, error, err, message }: Reasons): string {
  const reason = warnings?.[0] ?? error ?? err?.message ?? message;
  return typeof reason === "string" ? reason.slice(0, LONGEST_REASON) : "";
}

/**
 * Writes repeated failures of one kind once a second, with their number. `fatal` lines are all written, and so are all
 * others where each request is logged anyway.
 */
function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  const [context, ...rest] = args as [unknown, ...unknown[]];
  const { code } = (context ?? {}) as Reasons;
  const isSampled = typeof code === "string" && level < FATAL && !this.isLevelEnabled("debug");
  if (!isSampled) return method.apply(this, args);
  writeSampled(code, reasonOf(context as Reasons), (repeated) =>
    method.apply(this, [
      repeated === undefined ? context : { ...(context as object), repeated },
      ...rest,
    ] as never),
  );
}

/**
 * Creates the log. It writes to standard error, because standard output is for people. A reader that takes no lines
 * holds nothing up: lines wait in memory, and are dropped where too many wait. A `fatal` line is written at once, with
 * those before it.
 */
export function createLog(level: string, format: LogFormat): Log {
  const isText = isForPeople(format);
  const toVisibleJson = process.stderr.isTTY ? toVisibleText : (line: string): string => line;
  const output = {
    write: (line: string) => writeLogLine(isText ? formatAsText(line) : toVisibleJson(line)),
    flushSync: flushLogSync,
  };
  const log: Log = pino({ level, base: null, hooks: { logMethod } }, output);
  reportDroppedLines((dropped) =>
    log.warn({ code: "AG_LOG_LINES_DROPPED", dropped }, "log lines were dropped: nobody read the log"),
  );
  return log;
}

/**
 * Writes the last lines of the log, for a short time.
 *
 * @returns whether all are written. If not, the process ends by `process.exit` only.
 */
export function endLog(): Promise<boolean> {
  endRepeats();
  return drainLog();
}
