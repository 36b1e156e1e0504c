/** Time during which lines of one kind are counted, after one was written. */
const WINDOW_MS = 1000;

/** Maximum number of kinds that are counted at a time. A client may be able to invent reasons. */
const MOST_KINDS = 100;

/** Writes a line. @param repeated number of lines of its kind, if more than one */
type Write = (repeated?: number) => void;

interface Kind {
  count: number;
  /** Writes the newest line. */
  write: Write;
}

const kinds = new Map<string, Kind>();

function endWindow(name: string): void {
  const kind = kinds.get(name);
  kinds.delete(name);
  if (!kind || kind.count === 0) return;
  startWindow(name);
  kind.write(kind.count);
}

let isPrepared = false;

function startWindow(name: string): void {
  if (!isPrepared) process.on("exit", endRepeats);
  isPrepared = true;
  kinds.set(name, { count: 0, write: () => {} });
  setTimeout(endWindow, WINDOW_MS, name).unref();
}

/**
 * Writes the first line of a kind at once, and a second later the newest of the others, with their number. Otherwise,
 * while v4 is down, each request would cause a line.
 *
 * @param log The log of the line. Two gateways in one program count their lines separately.
 * @param code The code of the line.
 * @param reason The cause. Lines of one code with different reasons are of different kinds, unless there are too many.
 */
export function writeSampled(log: number, code: string, reason: string, write: Write): void {
  const ofCode = `${log} ${code}`;
  const exact = `${ofCode} ${reason}`;
  const name = kinds.has(exact) || kinds.size < MOST_KINDS ? exact : ofCode;
  const kind = kinds.get(name);
  if (!kind) {
    startWindow(name);
    write();
    return;
  }
  kind.count += 1;
  kind.write = write;
}

/** Writes the lines that are being counted. For a process that is about to end. */
export function endRepeats(): void {
  for (const { count, write } of kinds.values()) if (count > 0) write(count);
  kinds.clear();
}
