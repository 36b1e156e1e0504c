import { errorText } from "../settings/error-text.ts";

/** The log text of an outage. */
interface OutageLines {
  /** Logs the broken part, and the effect of the outage. */
  readonly begins: (error: string) => void;
  readonly ends: () => void;
}

/**
 * A service that may be unavailable for a while. The log contains the start and the end of an outage instead of each
 * attempt.
 */
export class Outage {
  readonly #lines: OutageLines;
  #isOn = false;

  constructor(lines: OutageLines) {
    this.#lines = lines;
  }

  /** Records a failed attempt. */
  failed(error: unknown): void {
    if (!this.#isOn) this.#lines.begins(errorText(error));
    this.#isOn = true;
  }

  /** Records a successful attempt. */
  succeeded(): void {
    if (this.#isOn) this.#lines.ends();
    this.#isOn = false;
  }
}
