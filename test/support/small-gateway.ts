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
}

/** A gateway that records its requests. */
export interface RecordingGateway extends SmallGateway {
  /** The newest audit record, as JSON text. */
  lastRecord(): Promise<string>;
  /** All audit records of the first page. */
  readRecords(): Promise<readonly AuditRecord[]>;
  /** Explains the newest audit record. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read explanations of every shape
  explainLast(): Promise<any>;
}

async function open(pack: SmallPack, settings: TestSettings): Promise<RecordingGateway> {
  const { folder, remove } = writeSmallPack(pack);
  const service = await startFakeV4();
  const close = async (): Promise<void> => {
    await service.close();
    remove();
  };
  const gateway = await openGateway({
    UPSTREAM_URL: service.url,
    MAPPINGS_DIR: folder,
    AUDIT_DURABILITY: "strict",
    ...settings,
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
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
    async stop() {
      await gateway.stop();
      await close();
    },
  };
}

/** Starts both. Nothing is recorded: each audit store is a thread, which takes most of a start. */
export const startSmallGateway = (pack: SmallPack, settings: TestSettings = {}): Promise<SmallGateway> =>
  open(pack, { AUDIT: "off", ...settings });

/** Starts both. The record of a request is stored before its response ends. */
export const startRecordingGateway = (
  pack: SmallPack,
  settings: TestSettings = {},
): Promise<RecordingGateway> => open(pack, settings);
