import type { Readiness } from "../../admin/admin-app.ts";
import type { PackFiles } from "../../mapping/load/load-pack.ts";
import type { MetricValues } from "../../observability/metrics/aggregate.ts";

/** What workers call in the primary. */
export interface PrimaryApi {
  /** The files of the active pack. */
  pack(): PackFiles;
  /** The worker accepts requests on this port. */
  listening(port: number): void;
  /** The worker can't listen, and exits. */
  refused(reason: string): void;
}

/** What the primary calls in a worker. */
export interface WorkerApi {
  readonly readiness: Readiness;
  metrics(): Promise<MetricValues>;
  /** Reads the tokens file again, and starts to activate the pack if it is another one. */
  reload(files: PackFiles): void;
  /** Lets in-flight requests finish, then exits. */
  drain(): void;
}
