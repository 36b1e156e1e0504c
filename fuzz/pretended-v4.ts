import { fillShape } from "../src/pack/values/shape.ts";
import type { Pack } from "../src/pack/load/pack.ts";
import type { Upstream } from "../src/gateway/upstream/http-call.ts";
import type { HttpResponse, HttpRequest } from "../src/gateway/upstream/http-call.ts";

/** A v4 without a network: the result of `respond`, or an empty list. */
export function pretendedV4(
  { lists }: Pack,
  respond: (call: HttpRequest) => HttpResponse | undefined,
): Upstream {
  const bytes = Buffer.from(
    JSON.stringify(fillShape(lists.upstream, { items: [], page: 1, pages: 1, total: 0 })),
  );
  return {
    call: (call) => Promise.resolve(respond(call) ?? { status: 200, headers: {}, bytes, ms: 0 }),
    close: () => Promise.resolve(),
  };
}
