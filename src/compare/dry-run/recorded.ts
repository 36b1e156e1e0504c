import type { AuditRecord, RecordedCall } from "../../audit/index.ts";
import { type Endpoint, isSuccess } from "../../pack/index.ts";

/** `GET /path` of a request, without its query. */
export const callName = ({ method, path }: RecordedCall): string => `${method} ${path.split("?", 1)[0]}`;

/** Whether a recorded request is one to an endpoint. */
export const isCallOf = (
  endpoint: Endpoint,
  { method, path }: Pick<RecordedCall, "method" | "path">,
): boolean => endpoint.method === method && endpoint.matches(path.split("?", 1)[0] ?? "");

/** Finds the last successful v4 request to an endpoint. */
export function findRecordedCall(record: AuditRecord, endpoint: Endpoint): RecordedCall | undefined {
  return record.v4.findLast(
    (call) => call.status !== null && isSuccess(call.status) && isCallOf(endpoint, call),
  );
}
