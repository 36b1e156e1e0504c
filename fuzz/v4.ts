import type { Pack } from "../src/mapping/pack.ts";
import type { Upstream, HttpResponse, HttpRequest } from "../src/upstream/client.ts";

/** A v4 without a network: what `answer` gives, else an empty list. */
export function pretendedV4(
  { dialect }: Pack,
  answer: (call: HttpRequest) => HttpResponse | undefined,
): Upstream {
  const { items, page, pages, results } = dialect.v4.envelope;
  const text = JSON.stringify({ [items]: [], [page]: 1, [pages]: 1, [results]: 0 });
  return {
    call: (call) => Promise.resolve(answer(call) ?? { status: 200, headers: {}, text, ms: 0 }),
    close: () => Promise.resolve(),
  };
}
