/** The lists of names that bits stand for, until they are stored. */
import type { RecordColumns } from "../store/stored-row.ts";
import { dayOf } from "./usage.ts";

/** Lists that are remembered as stored: the oldest ones of more are stored again. */
const MAX_LISTS = 10_000;

/** The names of a route in a pack. */
export interface NameList {
  readonly pack: string;
  readonly route: string;
  readonly names: readonly string[];
  /** The last day on which a request had them. */
  readonly day: string;
}

/** Gives out each list of names until it is stored, once a day: lists are kept as long as the bits that need them. */
export class NameLists {
  readonly #column: "sent" | "lost";
  /** The days for which lists are stored, by pack and route. */
  readonly #stored = new Map<string, string>();
  readonly #waiting = new Map<string, NameList>();
  /** What the last record with a list was, since most records have the list of the one before. */
  #last: Pick<NameList, "names" | "route" | "day"> | undefined;

  /** @param column The column of a record whose names these are */
  constructor(column: "sent" | "lost") {
    this.#column = column;
  }

  /** Takes note of the names of a record. */
  add(row: Pick<RecordColumns, "time" | "route" | "sent" | "lost">): void {
    const { time, route } = row;
    const numbered = row[this.#column];
    if (!numbered || route === null) return;
    const { pack, names } = numbered;
    const day = dayOf(time);
    const last = this.#last;
    if (last?.names === names && last.route === route && last.day === day) return;
    this.#last = { names, route, day };
    const key = `${pack} ${route}`;
    if ((this.#stored.get(key) ?? "") < day) this.#waiting.set(key, { pack, route, names, day });
  }

  /** The lists to be stored with the next commit. */
  waiting(): readonly NameList[] {
    return [...this.#waiting.values()];
  }

  /** Takes note of a commit. Lists of packs that are not in use any more are forgotten. */
  confirm(lists: readonly NameList[]): void {
    for (const { pack, route, day } of lists) {
      const key = `${pack} ${route}`;
      this.#stored.delete(key);
      this.#stored.set(key, day);
      this.#waiting.delete(key);
    }
    for (const oldest of this.#stored.keys()) {
      if (this.#stored.size <= MAX_LISTS) break;
      this.#stored.delete(oldest);
    }
  }
}
