/** The old service of tests with two services. When it closes it checks its own log: no comparison has sent it a write. */
import { request as sendOn } from "node:http";
import { endsWithTest } from "./ends-with-test.ts";
import { startFakeV4, type FakeV4, type ReceivedRequest, type Responder } from "./fake-v4.ts";

/** Whether a request was sent by a comparison, and not by a client: it has the gateway's id, and asks for no content coding. */
const isFromComparison = ({ headers }: ReceivedRequest): boolean =>
  headers["x-request-id"] !== undefined && headers["accept-encoding"] === "identity";

/** Answers as another service does, and changes nothing on the way. */
export const proxyTo =
  (target: string): Responder =>
  (call, response) => {
    const { method, path, headers } = call;
    const forwarded = sendOn(`${target}${path}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    forwarded.end(call.received());
  };

export interface OldServiceOptions {
  /** The service that answers in its place. Default: what the test sets with `respondWith`. */
  readonly inFrontOf?: string;
  /** Paths of routes whose POST only reads: `safe` in the pack. */
  readonly safePosts?: readonly string[];
}

/** An old service. Tests of comparisons and roll-outs start theirs here: a test of the architecture checks that. */
export interface TestOldService extends FakeV4 {
  /** Requests of comparisons so far. */
  readonly compared: readonly string[];
  /** @throws {Error} if a comparison has sent something else than a read */
  close(): Promise<void>;
}

/** Starts an old service on a free port. */
export async function startOldService({
  inFrontOf,
  safePosts = [],
}: OldServiceOptions = {}): Promise<TestOldService> {
  const compared: string[] = [];
  const service = await startFakeV4();
  let look: Parameters<FakeV4["onRequestHead"]>[0];
  service.onRequestHead((call, request) => {
    if (isFromComparison(call)) compared.push(`${call.method} ${call.path}`);
    look?.(call, request);
  });
  if (inFrontOf !== undefined) service.respondWith(proxyTo(inFrontOf));
  const isRead = (call: string): boolean =>
    /^(?:GET|HEAD) /.test(call) || safePosts.some((path) => call.split("?")[0] === `POST ${path}`);
  return {
    ...service,
    compared,
    onRequestHead: (given) => (look = given),
    close: endsWithTest(async () => {
      await service.close();
      const writes = compared.filter((call) => !isRead(call));
      if (writes.length > 0) throw new Error(`comparisons have sent writes: ${writes.join(", ")}`);
    }),
  };
}
