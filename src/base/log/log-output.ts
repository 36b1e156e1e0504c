/** The standard error of this process, for all its logs. Writing never waits for a reader. */
import { writeSync } from "node:fs";

/** Maximum number of characters that wait for a reader. Further lines are dropped. */
const MOST_WAITING = 1024 * 1024;

/** Maximum number of characters per write. */
const MOST_AT_ONCE = 16 * 1024;

/** Maximum time that the last lines of a process wait for a reader. */
const LAST_LINES_MS = 500;
const RETRY_MS = 20;

let waiting: string[] = [];
let waitingLength = 0;
let dropped = 0;
let droppedInAll = 0;
let onReaderBack: (dropped: number) => void = () => {};
let isPrepared = false;

/** Whether the reader has not read all written bytes. A file and a terminal accept everything at once. */
const isBlocked = (): boolean => process.stderr.writableLength > 0;

function takeNext(): string {
  let count = 0;
  for (let length = 0; count < waiting.length && (count === 0 || length < MOST_AT_ONCE); count += 1)
    length += waiting[count]?.length ?? 0;
  const text = waiting.splice(0, count).join("");
  waitingLength -= text.length;
  return text;
}

function writeWaiting(): void {
  if (isBlocked()) return;
  if (waiting.length > 0) return void process.stderr.write(takeNext(), writeWaiting);
  if (dropped === 0) return;
  const count = dropped;
  dropped = 0;
  onReaderBack(count);
}

/** A stream without a reader reports an error for each write. The lines are lost, and the process continues. */
function prepare(): void {
  if (isPrepared) return;
  isPrepared = true;
  process.stderr.on("error", () => {});
  process.on("exit", flushLogSync);
}

/** Writes a line, or keeps it until the reader accepts it. Drops it if too many lines wait. */
export function writeLogLine(line: string): void {
  prepare();
  if (waiting.length === 0 && !isBlocked()) {
    process.stderr.write(line, writeWaiting);
    return;
  }
  if (waitingLength + line.length > MOST_WAITING) {
    dropped += 1;
    droppedInAll += 1;
    return;
  }
  waiting.push(line);
  waitingLength += line.length;
}

/** Sets the function that reports dropped lines, after the reader accepts lines again. */
export function reportDroppedLines(report: (dropped: number) => void): void {
  onReaderBack = report;
}

/** Returns the number of lines that this process dropped. */
export const countDroppedLines = (): number => droppedInAll;

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Writes the waiting lines that the reader accepts within a short time. For a process that is about to end. */
export function flushLogSync(): void {
  if (waiting.length === 0) return;
  // The text in the stream is lost, and may have ended in the middle of a line.
  const bytes = Buffer.from((isBlocked() ? "\n" : "") + waiting.join(""));
  waiting = [];
  waitingLength = 0;
  const deadline = performance.now() + LAST_LINES_MS;
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(process.stderr.fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() > deadline) return;
      sleep(RETRY_MS);
    }
  }
}

/**
 * Waits for the reader to take the last lines, for a short time.
 *
 * @returns whether all are written. If not, only `process.exit` ends the process.
 */
export async function drainLog(): Promise<boolean> {
  const deadline = performance.now() + LAST_LINES_MS;
  const isDone = (): boolean => waiting.length === 0 && !isBlocked();
  while (!isDone() && performance.now() < deadline)
    await new Promise((resolve) => {
      setTimeout(resolve, RETRY_MS);
    });
  return isDone();
}
