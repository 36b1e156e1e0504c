/**
 * Something for each combination of up to three label values, found without making a key of them: figures that every
 * request adds to are looked up many times for each time that they are read.
 */
export class ByLabels<T> {
  readonly #make: () => T;
  readonly #all = new Map<string, Map<string, Map<string, T>>>();

  constructor(make: () => T) {
    this.#make = make;
  }

  /** Makes it where there is none yet. */
  at(first: string, second = "", third = ""): T {
    const found = this.#all.get(first)?.get(second)?.get(third);
    return found ?? this.#add(first, second, third);
  }

  /** With the values under the labels' names, in the order in which {@link at} takes them. */
  *entries(names: readonly string[]): Generator<[labels: Record<string, string>, T]> {
    for (const [first, seconds] of this.#all)
      for (const [second, thirds] of seconds)
        for (const [third, value] of thirds) {
          const values = [first, second, third];
          yield [Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])), value];
        }
  }

  #add(first: string, second: string, third: string): T {
    const seconds = this.#all.get(first) ?? new Map<string, Map<string, T>>();
    const thirds = seconds.get(second) ?? new Map<string, T>();
    const made = this.#make();
    this.#all.set(first, seconds.set(second, thirds.set(third, made)));
    return made;
  }
}
