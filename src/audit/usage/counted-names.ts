/** Which names of a route are looked for in requests. */
import { plainText } from "../record/plain-text.ts";
import type { WaitingColumns } from "../store/record-row.ts";
import { dayNumber } from "./usage.ts";

/** A name that is looked for in the requests of a route, and the last day on which it was. */
export type CountedName = Readonly<Record<"route" | "name", string> & Record<"day", number>>;

/** Gives out the names of each route once a day, so that it is known which ones nobody sent. */
export class CountedNames {
  #days = new WeakMap<readonly string[], number>();

  /** The names of the rows of a commit that are not stored yet, each once: the rows can be of two days, or of two packs. */
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

  /** The commit has failed: they are given out again. */
  forget(): void {
    this.#days = new WeakMap();
  }
}
