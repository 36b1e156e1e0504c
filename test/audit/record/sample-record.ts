import { randomBytes } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import type { AuditRecord } from "../../../src/audit/record/record.ts";

interface Varied {
  readonly time?: string;
  readonly client?: string | null;
  readonly address?: string;
  readonly route?: string | null;
  readonly status?: number;
  readonly lane?: AuditRecord["lane"];
  readonly agent?: string;
  readonly accepted?: boolean;
  readonly application?: string;
  readonly label?: string;
  readonly losses?: readonly string[];
}

/** A record with the values that a test gives, and plausible other ones. */
export function sampleRecord(id: string, varied: Varied = {}): AuditRecord {
  const { time = "2026-03-01T10:00:00.000Z", client = "0123456789abcdef" } = varied;
  const { route = "GET /vm/instances", status = 200 } = varied;
  return {
    id,
    time,
    lane: varied.lane ?? "alpha",
    requestId: `request-${id}`,
    client: {
      fingerprint: client,
      ...(varied.accepted !== undefined && { accepted: varied.accepted }),
      ...(varied.application !== undefined && { application: varied.application }),
      ...(varied.label !== undefined && { label: varied.label }),
      userAgent: varied.agent ?? "sample/1.0",
      address: varied.address ?? "192.0.2.1",
    },
    alpha: {
      method: "GET",
      path: "/v4/vm/instances",
      route,
      query: "page=1",
      filter: null,
      status,
      response: { vms: [] },
    },
    v4: [
      {
        method: "GET",
        path: "/v4/vm/instances?page=1",
        filter: null,
        status: 200,
        ms: 12.5,
        response: { data: [] },
      },
    ],
    losses: varied.losses ?? ["total_transfer: no such figure"],
    warnings: [],
    timings: { total: 20, upstream: 12.5, translation: 1.5 },
    bytes: { in: 0, out: 11 },
  };
}

/** Ids that sort by their number. */
export function sampleId(number: number): string {
  return `id-${String(number).padStart(6, "0")}`;
}

/** Text that can't be compressed to less than three quarters. */
export const incompressible = (length: number): string =>
  randomBytes(Math.ceil((length * 3) / 4))
    .toString("base64")
    .slice(0, length);

const line = (id: string): Buffer => Buffer.from(`${JSON.stringify(sampleRecord(id))}\n`);

/** What may be in the place of the segment with the record `a`. */
export const DAMAGED_SEGMENTS: readonly (readonly [damage: string, data: Buffer])[] = [
  ["is damaged", Buffer.alloc(20)],
  ["ends within a record", zstdCompressSync(line("a").subarray(0, 100))],
  ["is empty", zstdCompressSync(Buffer.alloc(0))],
  ["is longer than segments are", zstdCompressSync(Buffer.concat([line("a"), Buffer.alloc(64 * 1024 ** 2)]))],
];

/** The response of an empty list of zones. */
export const EMPTY_ZONES = { dnszones: [], page: 1, total_pages: 1, total_results: 0 };

/** A record of an empty list of zones, which a replay translates to the same response. */
export function emptyZones(id: string): AuditRecord {
  const sample = sampleRecord(id, { route: "GET /dns/zones" });
  return {
    ...sample,
    alpha: { ...sample.alpha, path: "/v4/dns/zones", query: "", response: EMPTY_ZONES },
    v4: [
      {
        method: "GET",
        path: "/v4/domains?page=1&page_size=25",
        filter: null,
        status: 200,
        response: { data: [], page: 1, pages: 1, results: 0 },
        ms: 1,
      },
    ],
  };
}
