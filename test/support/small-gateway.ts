/** A gateway with a small pack, in front of a service whose responses a test sets. */
import type { AuditRecord } from "../../src/audit/record/record.ts";
import { startFakeV4, type FakeV4 } from "./fake-v4.ts";
import { openGateway, type TestSettings } from "./gateway.ts";
import { request, type RequestOptions, type TestResponse } from "./request.ts";
import { writeSmallPack, type SmallPack } from "./small-pack.ts";

export interface SmallGateway {
  readonly service: FakeV4;
  /** Sends a request without credentials of its own. */
  send(call: string, options?: RequestOptions): Promise<TestResponse>;
  /** Reads the tokens file and the pack again. */
  reload(): Promise<void>;
  /** The value of a metric of the gateway. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
  /** The newest audit record, as JSON text. Needs RECORDING, as what follows. */
  lastRecord(): Promise<string>;
  /** All audit records of the first page. */
  readRecords(): Promise<readonly AuditRecord[]>;
  /** Explains the newest audit record. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read explanations of every shape
  explainLast(): Promise<any>;
}

/** Starts both. They end with the test. */
export async function startSmallGateway(pack: SmallPack, settings: TestSettings = {}): Promise<SmallGateway> {
  const folder = writeSmallPack(pack);
  const service = await startFakeV4();
  const gateway = await openGateway({ UPSTREAM_URL: service.url, MAPPINGS_DIR: folder, ...settings });
  const readAudit = (path: string) => gateway.requestAdmin(`GET /api/audit${path}`);
  return {
    service,
    send: (call, options) => request(gateway.app, call, options),
    lastRecord: async () => (await readAudit("?limit=1")).text,
    readRecords: async () => (await readAudit("?limit=500")).body.records,
    async explainLast() {
      const { records } = (await readAudit("?limit=1")).body;
      return (await readAudit(`/${records[0].id}/explain`)).body;
    },
    reload: async () => void (await gateway.reload()),
    async metric(name) {
      const { text } = await gateway.requestAdmin("GET /metrics");
      return Number(new RegExp(`^alpha_gateway_${name} (.+)$`, "m").exec(text)?.[1]);
    },
    stop: gateway.stop,
  };
}
