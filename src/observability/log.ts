import { pino, type Logger } from "pino";

type CodedLevel = "warn" | "error" | "fatal";

/** A line that operators may alert on. Its code is in docs/reference/errors.md. */
type LogCoded = (
  context: { readonly code: `AG_${string}`; readonly [member: string]: unknown },
  message: string,
) => void;

/** The log. Lines at `warn` level and above need a code; lines below may have one. */
export type Log = Omit<Logger, CodedLevel> & Record<CodedLevel, LogCoded>;

/** `auto`: text where standard error is a terminal, lines of JSON elsewhere. */
export type LogFormat = "auto" | "json" | "text";

/** Whether lines are read by somebody at a terminal. */
export const isForPeople = (format: LogFormat): boolean =>
  format === "text" || (format === "auto" && process.stderr.isTTY);

/** A line of JSON as people read it: level, message, and what else there is. */
function asText(line: string): string {
  const { level, time: _time, msg = "", ...rest } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
  return `${(pino.levels.labels[Number(level)] ?? "").toUpperCase()} ${String(msg)}${details}\n`;
}

/** Lines on standard error, so that standard output stays for people. Written at once: none is lost in a crash. */
export function createLog(level: string, format: LogFormat): Log {
  const lines = pino.destination({ dest: 2, sync: true });
  const text = { write: (line: string) => void lines.write(asText(line)) };
  return pino({ level, base: null }, isForPeople(format) ? text : lines);
}
