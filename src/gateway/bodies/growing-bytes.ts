const NO_BYTES = Buffer.alloc(0);

/**
 * Bytes that arrive in pieces of any size. They are copied into one buffer, so that no piece costs more than its
 * bytes.
 */
export class GrowingBytes {
  length = 0;
  #buffer: Buffer = NO_BYTES;

  /**
   * Returns the required size of the buffer after this many more bytes. @param most the maximum number of bytes: a
   * larger buffer is never needed
   */
  capacityWith(more: number, most: number): number {
    const length = this.length + more;
    if (length <= this.#buffer.length || this.length === 0) return Math.max(length, this.#buffer.length);
    return Math.max(length, Math.min(2 * this.length, most));
  }

  /** Adds a piece. A single piece is not copied. */
  add(piece: Buffer, most: number): void {
    const capacity = this.capacityWith(piece.length, most);
    if (this.length === 0) this.#buffer = piece;
    else {
      if (capacity > this.#buffer.length) {
        const larger = Buffer.allocUnsafeSlow(capacity);
        this.#buffer.copy(larger, 0, 0, this.length);
        this.#buffer = larger;
      }
      piece.copy(this.#buffer, this.length);
    }
    this.length += piece.length;
  }

  /** Returns the bytes so far, without a copy. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }
}
