/** A cache of at most `maxSize` entries. It is emptied when it is full, which costs less than to know the oldest entry. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  override set(key: Key, value: Value): this {
    if (this.size === this.#maxSize && !this.has(key)) this.clear();
    return super.set(key, value);
  }
}
