import { pino, type LogFn, type Logger } from "pino";
import { drainLog, flushLogSync, reportDroppedLines, writeLogLine } from "./log-output.ts";
import { callHost, reasonOfError } from "./host-call.ts";
import { endRepeats, writeSampled } from "./repeats.ts";
import { toVisibleText } from "../text/visible-text.ts";

/** A line that operators may alert on. Its code is in docs/reference/errors.md. */
type LogCoded = (
  context: { readonly code: `AG_${string}`; readonly [member: string]: unknown },
  message: string,
) => void;

/** Writes a line that needs no action. */
type LogPlain = (context: object, message: string) => void;

/** The log. Lines at level `warn` and above need a code; it is optional for lines below. */
export interface Log {
  readonly debug: LogPlain;
  readonly info: LogPlain;
  readonly warn: LogCoded;
  readonly error: LogCoded;
  readonly fatal: LogCoded;
  isLevelEnabled(level: string): boolean;
}

/**
 * A logger of the embedding program: pino's, or one with the same methods. Warnings and errors have a `code`, which
 * `docs/reference/errors.md` explains.
 */
export interface GatewayLogger {
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
  fatal(context: object, message: string): void;
  /** If this method is missing, requests are not logged at the level `debug`. */
  isLevelEnabled?(level: string): boolean;
}

/** `auto`: text if standard error is a terminal, otherwise lines of JSON. */
type LogFormat = "auto" | "json" | "text";

/** Whether lines are formatted for people instead of programs. */
export const isForPeople = (format: LogFormat): boolean =>
  format === "text" || (format === "auto" && process.stderr.isTTY);

const FATAL = pino.levels.values["fatal"] ?? Infinity;

/** Formats a line of JSON for people: time, level, message, and the other members. */
function formatAsText(line: string): string {
  const { level, time, msg = "", ...rest } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return toVisibleText(
    `${new Date(Number(time)).toISOString()} ${(pino.levels.labels[Number(level)] ?? "").toUpperCase()} ${String(msg)}${details}\n`,
  );
}

/** The type of the reason of a coded line. */
interface Reasons {
  readonly code?: unknown;
  readonly warnings?: readonly unknown[];
  readonly error?: unknown;
  readonly err?: { readonly message?: unknown };
  readonly message?: unknown;
}

/** Maximum length of the part of a reason that distinguishes kinds. */
const LONGEST_REASON = 200;

function reasonOf({ warnings, error, err, message }: Reasons): string {
  const reason = warnings?.[0] ?? error ?? err?.message ?? message;
  return typeof reason === "string" ? reason.slice(0, LONGEST_REASON) : "";
}

/** Writes a line, or only counts it. */
type WriteUnlessRepeated = (
  log: Pick<Log, "isLevelEnabled">,
  context: Reasons,
  write: (context: object) => void,
) => void;

let logs = 0;

/**
 * Creates the writer for repeated failures of one kind. It writes one line a second, with their number. At level
 * `debug` it writes all.
 */
function createSampling(): WriteUnlessRepeated {
  const id = (logs += 1);
  return function writeUnlessRepeated(log, context, write) {
    const { code } = context;
    if (typeof code !== "string" || log.isLevelEnabled("debug")) return write(context);
    writeSampled(id, code, reasonOf(context), (repeated) =>
      write(repeated === undefined ? context : { ...context, repeated }),
    );
  };
}

/** Creates pino's hook that samples repeated failures. All `fatal` lines are written. */
function createSamplingHook() {
  const writeUnlessRepeated = createSampling();
  return function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const [context, ...rest] = args as [unknown, ...unknown[]];
    if (typeof context !== "object" || context === null || level >= FATAL) return method.apply(this, args);
    writeUnlessRepeated(this, context, (written) => method.apply(this, [written, ...rest] as never));
  };
}

/** Loggers that have failed. */
const failedLoggers = new WeakSet<GatewayLogger>();

/** Reports once on standard error that the logger of the program has failed. Its lines are lost. */
function reportFailure(host: GatewayLogger, error: unknown): void {
  if (failedLoggers.has(host)) return;
  failedLoggers.add(host);
  createLogger("error", "auto").error(
    { code: "AG_LOGGER_FAILED", error: reasonOfError(error) },
    "the logger of the program failed: lines of the log are lost",
  );
}

/** Writes the log of a gateway to the logger of the program that embeds it. */
function adoptLogger(host: GatewayLogger): Log {
  const writeUnlessRepeated = createSampling();
  const guarded = <Result>(call: () => Result): Result | undefined =>
    callHost(call, (error) => reportFailure(host, error));
  const isLevelEnabled = (level: string): boolean =>
    guarded(() => host.isLevelEnabled?.(level)) ?? level !== "debug";
  const write =
    (level: "debug" | "info" | "warn" | "error" | "fatal"): LogPlain =>
    (context, message) =>
      guarded(() => host[level](context, message));
  const sampled = (level: "warn" | "error"): LogCoded => {
    const writeLine = write(level);
    return (context, message) =>
      writeUnlessRepeated({ isLevelEnabled }, context, (written) => writeLine(written, message));
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: sampled("warn"),
    error: sampled("error"),
    fatal: write("fatal"),
    isLevelEnabled,
  };
}

function createLogger(level: string, format: LogFormat): Log {
  const isText = isForPeople(format);
  const toVisibleJson = process.stderr.isTTY ? toVisibleText : (line: string): string => line;
  const output = {
    write: (line: string) => writeLogLine(isText ? formatAsText(line) : toVisibleJson(line)),
    flushSync: flushLogSync,
  };
  return pino({ level, base: null, hooks: { logMethod: createSamplingHook() } }, output);
}

/**
 * Creates the log. It writes to standard error, because standard output is for people. A reader that accepts no lines
 * does not block the process: lines wait in memory, and are dropped if too many wait. A `fatal` line is written at
 * once, together with the lines before it.
 */
export function createLog(level: string, format: LogFormat): Log {
  const log = createLogger(level, format);
  reportDroppedLines((dropped) =>
    log.warn(
      { code: "AG_LOG_LINES_DROPPED", dropped },
      "log lines were dropped, because the log was not read",
    ),
  );
  return log;
}

/** Opens the log of a gateway: the logger of the program that embeds it, otherwise a log as the settings define. */
export const openLog = (
  { LOG_LEVEL, LOG_FORMAT }: { readonly LOG_LEVEL: string; readonly LOG_FORMAT: LogFormat },
  logger: GatewayLogger | undefined,
): Log => (logger ? adoptLogger(logger) : createLog(LOG_LEVEL, LOG_FORMAT));

/**
 * Writes the last lines of the log, for a short time.
 *
 * @returns whether all are written. If not, only `process.exit` ends the process.
 */
export function endLog(): Promise<boolean> {
  endRepeats();
  return drainLog();
}
