import { AuditUnavailableError } from "../../src/audit/store/store.ts";
import type { AuditQuery, AuditStore } from "../../src/audit/store/store.ts";
import { sampleRecord } from "../audit/record/sample-record.ts";

/** A store of two records that collects its queries, and can fail. */
export function memoryStore() {
  const asked: AuditQuery[] = [];
  const records = [sampleRecord("b"), sampleRecord("a")];
  let broken = false;

  function check(): void {
    if (broken) throw new AuditUnavailableError("disk /secret/path is gone");
  }

  function page<T>(query: AuditQuery, records: T[]): { records: T[]; next: string | null } {
    check();
    asked.push(query);
    return { records, next: query.before ? null : "1-1" };
  }

  const store: AuditStore = {
    append: () => {},
    query: async (query) => page(query, records),
    texts: async (query) =>
      page(
        query,
        records.map((record) => JSON.stringify(record)),
      ),
    count: async () => records.length,
    clients: async () => [],
    tokens: async () => [],
    activity: async () => ({ token: undefined, routes: [] }),
    erase: async () => {
      throw new AuditUnavailableError("it erases nothing");
    },
    erasures: async () => [],
    sent: async () => [],
    losses: async () => [],
    spans: async () => [],
    usage: async () => [],
    callers: async () => ({ callers: [], sent: [], counted: new Map(), namesSince: null }),
    days: async () => [],
    decisions: {
      wasServed: async () => false,
      callsOf: async () => ({ requests: 0, hasCalled: false }),
      tokenPage: async () => [],
    },
    get: async (id) => {
      check();
      return records.find((record) => record.id === id);
    },
    ready: () => !broken,
    fault: () => (broken ? "it is gone" : undefined),
    stats: () => ({
      queued: 0,
      dropped: 0,
      written: 0,
      errors: 0,
      evicted: 0,
      evictedClients: 0,
      recordBytes: 0,
      storedBytes: 0,
      commits: 0,
      commitSeconds: 0,
    }),
    close: async () => {},
  };

  return { store, asked, records, breakDown: () => void (broken = true) };
}
