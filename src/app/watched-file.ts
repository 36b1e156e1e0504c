import { errorText } from "../config/error-text.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import { formatDiagnosticLine } from "../mapping/load/diagnostic.ts";
import {
  OperatorFileError,
  readOperatorFile,
  type OperatorFileKind,
} from "../operator-files/operator-file.ts";
import { pollFile } from "./poll-file.ts";

/** An operator's file that is read at the start, and again when it changes. */
export interface WatchedFile<T> {
  /** What requests that start now use. */
  current(): T;
  /** Reads the file again. If it is invalid, what was read before stays. Never throws. */
  reload(): void;
  /** No longer looks whether the file changes. */
  close(): void;
}

export interface WatchOptions<T> {
  /** The name of the setting, for messages. */
  readonly setting: string;
  /** Name of the gauge that says whether the last reload succeeded. */
  readonly gauge: string;
  /** Checks what was read against what else is configured. @throws {OperatorFileError} */
  readonly check?: (next: T, active: T | undefined) => void;
  /** Called when requests use something new. */
  readonly onChange?: (next: T) => void;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "addGauge">;
}

/**
 * Reads a file of an operator and watches it.
 *
 * @throws {OperatorFileError} If the file is invalid at the start.
 */
export function watchOperatorFile<Definition, T>(
  file: string,
  kind: OperatorFileKind<Definition, T>,
  { setting, gauge, check, onChange, log, metrics }: WatchOptions<T>,
): WatchedFile<T> {
  let current = readOperatorFile(file, kind);
  check?.(current, undefined);
  let isLastSuccessful = true;
  metrics.addGauge(gauge, `1 if the last reload of ${setting} succeeded, 0 if the file was rejected.`, () =>
    Number(isLastSuccessful),
  );

  function reload(): void {
    try {
      const next = readOperatorFile(file, kind);
      check?.(next, current);
      current = next;
      isLastSuccessful = true;
      onChange?.(next);
      log.info({ setting }, "a file was reloaded");
    } catch (error) {
      isLastSuccessful = false;
      const faults =
        error instanceof OperatorFileError
          ? error.problems.map((problem) => `${problem.code} ${formatDiagnosticLine(problem)}`)
          : [errorText(error)];
      log.error(
        { code: "AG_FILE_REJECTED", setting, faults },
        "a changed file was rejected, what was read before stays",
      );
    }
  }

  return { current: () => current, reload, close: pollFile(file, reload) };
}
