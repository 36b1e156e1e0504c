/**
 * The services of the process that opens a feature. A gateway keeps the feature up to date, and a command reads it
 * once.
 */
import { type OperatorFileKind, readOperatorFile } from "../files/operator-file.ts";
import { pollFile } from "../files/poll-file.ts";
import { watchOperatorFile, type WatchedFile, type WatchOptions } from "../files/watched-file.ts";
import { createLog, type Log } from "../log/log.ts";
import { Outage } from "../log/outage.ts";
import { type FeatureMetrics, NO_METRICS } from "../metrics/no-metrics.ts";
import type { SettingName } from "../settings/setting-definitions.ts";
import type { Closer } from "./close-all.ts";

/** The log text of an operation that fails repeatedly. */
interface OutageText {
  readonly code: `AG_${string}`;
  /** The broken part, and the effect of the outage. */
  readonly begins: string;
  readonly ends: string;
}

/** The process that opens features. */
export interface FeatureProcess {
  readonly log: Log;
  readonly metrics: FeatureMetrics;
  /** Whether the process only reads: it watches, repeats and publishes nothing. */
  readonly isReadOnly: boolean;
}

/** The process, for one feature. */
export interface FeatureHost extends FeatureProcess {
  /** Reads a file of the operator. A gateway reads it again when it changes. @throws {OperatorFileError} */
  readFile<Definition, T>(
    setting: SettingName,
    file: string,
    kind: OperatorFileKind<Definition, T>,
    options?: Pick<WatchOptions<T>, "join" | "onChange">,
  ): WatchedFile<T>;
  /** Calls back when one of the files changes. Only a gateway does this. */
  watch(files: readonly string[], onChange: () => void): void;
  /**
   * Repeats work of a gateway at intervals, one run at a time. The first run starts after one interval.
   *
   * @param outage The outage that a gateway logs if the work fails. A command throws instead
   * @returns a function that runs the work now
   */
  repeat(everyMs: number, run: () => Promise<unknown>, outage?: OutageText): () => Promise<void>;
}

/** Creates the process of a command, which reads a feature once and ends. */
export const commandProcess = (): FeatureProcess => ({
  log: createLog("silent", "json"),
  metrics: NO_METRICS,
  isReadOnly: true,
});

/** Creates the host of one feature. @param closers receive functions that end the work of the feature */
export function createHost(process: FeatureProcess, closers: Closer[]): FeatureHost {
  const { log, metrics, isReadOnly } = process;

  function readOnce<Definition, T>(file: string, kind: OperatorFileKind<Definition, T>): WatchedFile<T> {
    const read = readOperatorFile(file, kind);
    return { current: () => read, reload() {}, close() {} };
  }

  return {
    ...process,
    readFile(setting, file, kind, options) {
      if (isReadOnly) return readOnce(file, kind);
      const watched = watchOperatorFile(file, kind, { setting, ...options, log, metrics });
      closers.push(watched.close);
      return watched;
    },
    watch(files, onChange) {
      if (!isReadOnly) for (const file of new Set(files)) closers.push(pollFile(file, onChange));
    },
    repeat(everyMs, run, text) {
      if (isReadOnly) return async () => void (await run());
      const outage =
        text &&
        new Outage({
          begins: (error) => log.error({ code: text.code, error }, text.begins),
          ends: () => log.info({}, text.ends),
        });
      let isBusy = false;
      async function now(): Promise<void> {
        if (isBusy) return;
        isBusy = true;
        try {
          await run();
          outage?.succeeded();
        } catch (error) {
          if (!outage) throw error;
          outage.failed(error);
        } finally {
          isBusy = false;
        }
      }
      const timer = setInterval(() => void now(), everyMs).unref();
      closers.push(() => clearInterval(timer));
      return now;
    },
  };
}
