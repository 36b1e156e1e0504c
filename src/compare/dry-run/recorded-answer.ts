/** Translates requests again under a pack, with the v4 responses that led to the first response. Nothing is sent. */
import { type AlphaRequest, type RequestContext, type UpstreamCallRecord } from "../../gateway/index.ts";
import { printJson } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Exchange, SecondAnswer } from "../answers/comparison.ts";
import { createDryRun, type DryRun, type DryRunOptions } from "./dry-run.ts";
import { areMade, createRecordedV4, type RecordedV4 } from "./recorded-v4.ts";

/** Returns the calls of a request, including those whose response came from a cache. */
export const callsOf = ({ upstream }: Pick<RequestContext, "upstream">): readonly UpstreamCallRecord[] => [
  ...(upstream?.calls ?? []),
  ...(upstream?.cachedReads ?? []).map(({ path, json }) => ({
    method: "GET",
    path,
    filter: null,
    status: 200,
    response: { bytes: Buffer.from(printJson(json)) },
    ms: 0,
  })),
];

const toRouteCalls = (context: RequestContext) => ({
  route: context.match?.route,
  calls: callsOf(context),
});

/**
 * Returns the request in its original form, with the body that was read. @param onUnread called if a body is needed
 * that was not read
 */
function requestOf({ request, context }: Exchange, onUnread: () => void): AlphaRequest {
  const { readBody, openUpload: _upload, ...others } = request;
  const bytes = context.body?.bytes;
  return {
    ...others,
    startedAt: performance.now(),
    time: context.time,
    // It is already known whether the client stayed connected until the end.
    signal: new AbortController().signal,
    ...(readBody && {
      async readBody() {
        if (!bytes) onUnread();
        return bytes ?? Buffer.alloc(0);
      },
    }),
  };
}

/** The source of a pack's responses to past requests. It handles one request at a time. */
export interface RecordedAnswer extends SecondAnswer {
  /** The recorded responses. They must be set before `dryRun` handles a request. */
  readonly v4: RecordedV4;
  readonly dryRun: DryRun;
}

/** Creates the source. `calls` means that the pack would make calls that were not made. */
export function createRecordedAnswer(pack: Pack, options?: DryRunOptions): RecordedAnswer {
  const v4 = createRecordedV4(pack);
  const dryRun = createDryRun(pack, v4, options);
  return {
    source: "candidate",
    v4,
    dryRun,
    async ask(exchange) {
      const { context } = exchange;
      v4.play(context.match?.route.name ?? null, callsOf(context));
      let needsBody = false;
      const request = requestOf(exchange, () => (needsBody = true));
      const { response, exchange: repeated } = await dryRun.handle(request);
      // The data is released, because the client and v4 determine its size.
      v4.play(null, []);
      const isFile = repeated?.context.match?.route.comparison.obstacle === "file";
      if (response.file || needsBody || !repeated || isFile) return "calls";
      const { status, headers, body } = response;
      return areMade(toRouteCalls(context), toRouteCalls(repeated.context))
        ? { status, headers, body }
        : "calls";
    },
  };
}
