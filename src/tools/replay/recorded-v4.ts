import type { AuditRecord, RecordedCall } from "../../audit/record.ts";
import { printJson } from "../../dialect/json/parse.ts";
import type { Endpoint } from "../../mapping/compile/endpoint.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import type { Upstream, HttpResponse, HttpRequest } from "../../upstream/client.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";

type Named = Pick<RecordedCall, "method" | "path">;

const isOf = (endpoint: Endpoint, { method, path }: Named): boolean =>
  endpoint.method === method && endpoint.matches(path.split("?", 1)[0] ?? "");

/** Reads that only wait for the call to become possible: how many there were is no matter of the pack. */
export function withoutWaiting<Call extends Named>(calls: readonly Call[], route: Route | undefined): Call[] {
  const { wait, source } = route ?? {};
  if (!wait || !source || !("call" in source)) return [...calls];
  const main = calls.findIndex((call) => isOf(source.call, call));
  const before = main === -1 ? calls.length : main;
  return calls.filter((call, index) => index >= before || !isOf(wait.endpoint, call));
}

const textOf = (response: unknown): string =>
  typeof response === "string" || response === undefined ? (response ?? "") : printJson(response);

/** v4 as it answered when a record was made: the same call, the same answer. */
export interface RecordedV4 extends Upstream {
  /** Takes the answers of the next record. */
  play(record: AuditRecord): void;
  /** Calls that the record knows no answer to. */
  readonly unknown: readonly HttpRequest[];
  /** Reads of which none is recorded, since their answers were kept from an earlier request (`keep` in the pack). */
  readonly kept: readonly HttpRequest[];
}

/** Makes one. Catalogs, which are read without a token, were never recorded: there are none. */
export function recordedV4(pack: Pack): RecordedV4 {
  let left: RecordedCall[] = [];
  let unknown: HttpRequest[] = [];
  let kept: HttpRequest[] = [];
  let route: Route | undefined;
  let called = false;

  const isKept = (call: HttpRequest): boolean =>
    (route?.related ?? []).some(({ cacheSeconds, endpoint }) => cacheSeconds > 0 && isOf(endpoint, call));

  function answer(call: HttpRequest): HttpResponse {
    const { wait, source } = route ?? {};
    called ||= source !== undefined && "call" in source && isOf(source.call, call);
    // v4 won't say whether it is ready: the call is made at once.
    if (wait && !called && isOf(wait.endpoint, call)) return { status: 403, headers: {}, text: "", ms: 0 };
    const index = left.findIndex(({ method, path }) => method === call.method && path === call.path);
    const [recorded] = index === -1 ? [] : left.splice(index, 1);
    if (!recorded) (isKept(call) ? kept : unknown).push(call);
    if (!recorded || recorded.status === null)
      throw new UpstreamError("unreachable", "no answer is recorded");
    return { status: recorded.status, headers: {}, text: textOf(recorded.response), ms: 0 };
  }

  return {
    play({ alpha, v4 }) {
      route = alpha.route === null ? undefined : pack.route(alpha.route);
      left = withoutWaiting(v4, route);
      unknown = [];
      kept = [];
      called = false;
    },
    get unknown() {
      return unknown;
    },
    get kept() {
      return kept;
    },
    call: async (call) => answer(call),
    close: () => Promise.resolve(),
  };
}
