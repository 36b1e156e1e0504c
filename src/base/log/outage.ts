import { errorText } from "../settings/error-text.ts";

/** The log text of an outage. */
interface OutageLines {
  /** The broken part, and the effect meanwhile. */
  readonly begins: (error: string) => void;
  readonly ends: () => void;
}

/**
 * A service that may be unavailable for a while. The log contains the start and the end of an outage, and not each
 * attempt.
 */
export class Outage {
  readonly #lines: OutageLines;
  #isOn = false;

  constructor(lines: OutageLines) {
    this.#lines = lines;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** An attempt has failed. */
  failed(error: unknown): void {
    if (!this.#isOn) this.#lines.begins(errorText(error));
    this.#isOn = true;
  }

  /** An attempt has succeeded. */
  succeeded(): void {
    if (this.#isOn) this.#lines.ends();
    this.#isOn = false;
  }
}
