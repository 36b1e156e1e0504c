import { pino, type Logger } from "pino";

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

/** Formats a line of JSON for people: level, message, and the other members. */
function formatAsText(line: string): string {
  const { level, time: _time, msg = "", ...rest } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return `${(pino.levels.labels[Number(level)] ?? "").toUpperCase()} ${String(msg)}${details}\n`;
}

/**
 * Creates the log. It writes to standard error, because standard output is for people, and synchronously, so that no
 * line is lost in a crash.
 */
export function createLog(level: string, format: LogFormat): Log {
  const lines = pino.destination({ dest: 2, sync: true });
  const text = { write: (line: string) => void lines.write(formatAsText(line)) };
  return pino({ level, base: null }, isForPeople(format) ? text : lines);
}
