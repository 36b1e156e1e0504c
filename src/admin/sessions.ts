import { randomBytes } from "node:crypto";

const GREATEST_COUNT = 100;
const LIFETIME_MS = 12 * 60 * 60 * 1000;

/** Signed-in browsers of the console, in memory: a restart signs everybody out. */
export interface Sessions {
  /** Begins a session and gives its id, 256 random bits. The oldest ends when there are too many. */
  readonly begin: () => string;
  readonly has: (id: string) => boolean;
  readonly end: (id: string) => void;
  /** Seconds. */
  readonly lifetime: number;
}

/** @param clock Milliseconds of a clock that nobody sets. Default that of the process. */
export function makeSessions(clock: () => number = () => performance.now()): Sessions {
  const ends = new Map<string, number>();

  function begin(): string {
    const oldest = ends.keys().next();
    if (ends.size >= GREATEST_COUNT && !oldest.done) ends.delete(oldest.value);
    const id = randomBytes(32).toString("base64url");
    ends.set(id, clock() + LIFETIME_MS);
    return id;
  }

  function has(id: string): boolean {
    const end = ends.get(id);
    if (end === undefined) return false;
    if (end > clock()) return true;
    ends.delete(id);
    return false;
  }

  return { begin, has, end: (id) => void ends.delete(id), lifetime: LIFETIME_MS / 1000 };
}
