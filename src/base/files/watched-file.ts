import { errorText } from "../settings/error-text.ts";
import type { Log } from "../log/log.ts";
import type { SettingName } from "../settings/setting-definitions.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { formatDiagnosticLine } from "./diagnostic.ts";
import {
  OperatorFileError,
  type FileProblem,
  readOperatorFile,
  type OperatorFileKind,
} from "./operator-file.ts";
import { pollFile } from "./poll-file.ts";

/** A syntax error without the parser's quotation of the file, because contacts must not be logged. */
function withoutText(problem: FileProblem, setting: SettingName): FileProblem {
  if (problem.code !== "AG_FILE_SYNTAX") return problem;
  // The flags have the names of the settings: `--clients` checks CLIENTS_FILE.
  const flag = `--${setting.replace(/_FILE$/, "").toLowerCase()}`;
  return { ...problem, message: `is not YAML: \`alpha-gateway check ${flag} ${problem.file}\` says why` };
}

const describeFault = (problem: FileProblem, setting: SettingName): string =>
  `${problem.code} ${formatDiagnosticLine(withoutText(problem, setting))}`;

/** An operator's file that is read at the start and again after each change. */
export interface WatchedFile<T> {
  /** Returns the version for requests that start now. */
  current(): T;
  /**
   * Reads the file again, and the files that reference it. If a file is invalid, its previous version stays active.
   * Never throws.
   */
  reload(): void;
  /** Stops watching the file. */
  close(): void;
}

/** A file that was read and is not active yet. */
interface PreparedFile<T = unknown> {
  readonly next: T;
  /** Activates the file for requests. */
  accept(): void;
}

/** A watched file, for the code that decides whether a change is activated. */
export interface JudgedFile<T = unknown> {
  /** Reads and checks the file. @throws {OperatorFileError} */
  prepare(): PreparedFile<T>;
  /**
   * Keeps the previous version.
   *
   * @param error the file's problem. Undefined if the file is valid, but is rejected because of another file, whose
   *   problem the log names
   */
  reject(error?: unknown, message?: string): void;
}

/** Reads a file. If it is invalid, the previous content stays active, and the log contains the reason. */
export function prepareOrReject<T>(file: JudgedFile<T>, message?: string): PreparedFile<T> | undefined {
  try {
    return file.prepare();
  } catch (error) {
    file.reject(error, message);
    return undefined;
  }
}

export interface WatchOptions<T> {
  /** The setting that names the file. */
  readonly setting: SettingName;
  /** The reload function. Files that reference each other share one function. Default: the file is reloaded independently. */
  readonly join?: (file: JudgedFile<T>) => () => void;
  /** Called when requests start to use a new version. */
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
  {
    setting,
    join = (alone) => () => prepareOrReject(alone)?.accept(),
    onChange,
    log,
    metrics,
  }: WatchOptions<T>,
): WatchedFile<T> {
  let current = readOperatorFile(file, kind);
  let isLastSuccessful = true;
  metrics.addGauge(
    `${setting.toLowerCase()}_last_reload_successful`,
    `1 if the last reload of ${setting} succeeded, otherwise 0.`,
    () => Number(isLastSuccessful),
  );

  const reload = join({
    prepare() {
      const next = readOperatorFile(file, kind);
      return {
        next,
        accept() {
          current = next;
          isLastSuccessful = true;
          onChange?.(next);
          log.info({ setting }, "a file was reloaded");
        },
      };
    },
    reject(error, message = "a changed file was rejected, the previous one stays active") {
      isLastSuccessful = false;
      if (error === undefined) return;
      const faults =
        error instanceof OperatorFileError
          ? error.problems.map((problem) => describeFault(problem, setting))
          : [errorText(error)];
      log.error({ code: "AG_FILE_REJECTED", setting, faults }, message);
    },
  });

  return { current: () => current, reload, close: pollFile(file, reload) };
}
