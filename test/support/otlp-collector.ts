/** An OTLP receiver over HTTP: it decodes logs in JSON as a collector does, and keeps the bytes that it got. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { endsWithTest } from "./ends-with-test.ts";

/** The value of an attribute as OTLP/JSON has it (opentelemetry-proto, common.proto). */
interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}

type Attributes = readonly { readonly key: string; readonly value: AnyValue }[];

interface LogsRequest {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeLogs: readonly {
      readonly scope: { readonly name: string };
      readonly logRecords: readonly {
        readonly timeUnixNano: string;
        readonly severityText: string;
        readonly severityNumber: number;
        readonly eventName: string;
        readonly body: AnyValue;
        readonly attributes: Attributes;
      }[];
    }[];
  }[];
}

/** A log record, decoded. */
export interface ReceivedLog {
  readonly eventName: string;
  readonly time: string;
  readonly severity: string;
  readonly body: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

const decode = ({ stringValue, intValue, doubleValue, arrayValue }: AnyValue): unknown =>
  stringValue ?? doubleValue ?? (intValue === undefined ? arrayValue?.values.map(decode) : Number(intValue));

const decodeAll = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, decode(value)]));

function decodeLogs({ resourceLogs }: LogsRequest): ReceivedLog[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map(({ eventName, timeUnixNano, severityText, body, attributes }) => ({
        eventName,
        time: new Date(Number(BigInt(timeUnixNano) / 1_000_000n)).toISOString(),
        severity: severityText,
        body: decode(body),
        attributes: decodeAll(attributes),
        resource: decodeAll(resource.attributes),
      })),
    ),
  );
}

export interface OtlpCollector {
  readonly url: string;
  /** All log records so far. */
  logs(): readonly ReceivedLog[];
  /** The bytes of all requests so far. */
  bytes(): Buffer;
  /** How many requests it got. */
  requests(): number;
  /** Responds with this status from now on. 200 accepts. */
  respondWith(status: number): void;
  /** Does not respond from now on. */
  stall(): void;
  close(): Promise<void>;
}

/** Starts a receiver on a port of its own. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const bodies: Buffer[] = [];
  const received: ReceivedLog[] = [];
  let status: number | undefined = 200;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    bodies.push(body);
    if (status === undefined) return;
    const isLogs = request.method === "POST" && request.url === "/v1/logs";
    if (isLogs && status === 200) received.push(...decodeLogs(JSON.parse(body.toString()) as LogsRequest));
    response.writeHead(isLogs ? status : 404, { "content-type": "application/json" }).end("{}");
  }

  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    logs: () => received,
    bytes: () => Buffer.concat(bodies),
    requests: () => bodies.length,
    respondWith: (next) => void (status = next),
    stall: () => void (status = undefined),
    close: endsWithTest(async () => {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    }),
  };
}
