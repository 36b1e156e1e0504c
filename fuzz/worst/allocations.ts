import { GCProfiler, getHeapStatistics } from "node:v8";

const usedBytes = (): number => {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
};

const MINOR_COLLECTIONS = new Set(["Scavenge", "MinorMarkSweep", "MinorMarkCompact"]);

export interface Allocations {
  /** Millions of bytes. */
  readonly mb: number;
  /** Microseconds of full garbage collections. */
  readonly fullCollections: number;
}

/** Starts to count the bytes that this process allocates. @returns A function that stops. */
export function countAllocations(): () => Allocations {
  const profiler = new GCProfiler();
  profiler.start();
  const before = usedBytes();
  return () => {
    const after = usedBytes();
    let freed = 0;
    let fullCollections = 0;
    for (const { beforeGC, afterGC, cost, gcType } of profiler.stop()?.statistics ?? []) {
      if (!MINOR_COLLECTIONS.has(gcType)) fullCollections += cost;
      freed +=
        beforeGC.heapStatistics.usedHeapSize +
        beforeGC.heapStatistics.externalMemory -
        afterGC.heapStatistics.usedHeapSize -
        afterGC.heapStatistics.externalMemory;
    }
    return { mb: (after - before + freed) / 1e6, fullCollections };
  };
}
