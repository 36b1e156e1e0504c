/** The messages between a store and its threads. */
import type { Batch } from "../../segment.ts";
import type { StoreJobs } from "../../sql/jobs.ts";
import type { SqliteUse } from "../driver.ts";
import type { StoreThread } from "./store-thread.ts";

/** A job of a thread: opening a file, or one of `StoreJobs`. */
export type ThreadJob =
  | { readonly method: "open"; readonly argument: SqliteUse }
  | { readonly method: keyof StoreJobs; readonly argument?: unknown };

/**
 * A batch in a message. Its rows are JSON, because passing one string to a thread is much faster than passing many
 * small objects.
 */
export interface PackedBatch {
  readonly segments: string;
  readonly bytes: Batch["bytes"];
  readonly counted: Batch["counted"];
}

/** Reverses the packing of a batch by `remoteJobs`. */
export const unpackBatch = ({ segments, ...rest }: PackedBatch): Batch => ({
  segments: JSON.parse(segments) as Batch["segments"],
  ...rest,
});

/** The jobs of a thread, as functions. */
export function remoteJobs(thread: StoreThread<ThreadJob>): StoreJobs {
  const write = ({ segments, ...rest }: Batch): Promise<unknown> => {
    const argument: PackedBatch = { segments: JSON.stringify(segments), ...rest };
    return thread.call({ method: "write", argument }, [rest.bytes.buffer]);
  };
  const job = (method: keyof StoreJobs) =>
    method === "write" ? write : (argument?: unknown) => thread.call({ method, argument });
  return new Proxy({} as StoreJobs, { get: (_, method) => job(method as keyof StoreJobs) });
}
