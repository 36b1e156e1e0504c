/** The names of a route that are searched in requests. */
import { plainText } from "../record/plain-text.ts";
import type { WaitingColumns } from "../store/record-row.ts";
import { dayNumber } from "./usage.ts";

/** A name that is searched in the requests of a route, and the last day on which it was searched. */
export type CountedName = Readonly<Record<"route" | "name", string> & Record<"day", number>>;

/** Returns the names of each route once a day, so that it is known which names were not sent. */
export class CountedNames {
  #days = new WeakMap<readonly string[], number>();

  /**
   * Returns the names of a commit's rows that are not stored yet, without duplicates: the rows can belong to two days,
   * or to two packs.
   */
  of(rows: Iterable<Pick<WaitingColumns, "time" | "route" | "sent">>): readonly CountedName[] {
    const found = new Map<string, CountedName>();
    for (const { time, route, sent } of rows) {
      if (!sent || route === null) continue;
      const { names } = sent;
      const day = dayNumber(time);
      if ((this.#days.get(names) ?? -1) >= day) continue;
      this.#days.set(names, day);
      for (const name of names.map(plainText)) {
        const id = `${route}\n${name}`;
        found.set(id, { route, name, day: Math.max(day, found.get(id)?.day ?? day) });
      }
    }
    return [...found.values()];
  }

  /** Called if the commit has failed: its names are returned again. */
  forget(): void {
    this.#days = new WeakMap();
  }
}
