/** Which names of a route are looked for in requests. */
import { plainText } from "../record/plain-text.ts";
import type { RecordColumns } from "../store/record-row.ts";
import { dayNumber } from "./usage.ts";

/** The names of a route that are counted on a day. */
export interface RouteNames {
  readonly route: string;
  readonly names: readonly string[];
  readonly day: number;
}

/** Gives out the names of each route once a day, so that it is known which ones nobody sent. */
export class CountedNames {
  #days = new WeakMap<readonly string[], number>();

  /** The names of the rows of a commit that are not stored yet. */
  of(rows: Iterable<Pick<RecordColumns, "time" | "route" | "sent">>): readonly RouteNames[] {
    const found: RouteNames[] = [];
    for (const { time, route, sent } of rows) {
      if (!sent || route === null) continue;
      const { names } = sent;
      const day = dayNumber(time);
      if ((this.#days.get(names) ?? -1) >= day) continue;
      this.#days.set(names, day);
      found.push({ route, names: names.map(plainText), day });
    }
    return found;
  }

  /** The commit has failed: they are given out again. */
  forget(): void {
    this.#days = new WeakMap();
  }
}
