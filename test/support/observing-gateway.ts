/** A gateway that observes, in front of an old service of the test. It has no pack and no v4. */
import { startFakeV4, type FakeV4 } from "./fake-v4.ts";
import { openListeningGateway, type Listening, type TestGateway, type TestSettings } from "./gateway.ts";
import type { TestResponse } from "./request.ts";

export interface ObservingGateway extends TestGateway, Listening {
  /** Its responses are set by the test. */
  readonly old: FakeV4;
  /** Reads the newest record of the audit, with its bodies. */
  readLastRecord(): Promise<TestResponse["body"]>;
}

/** Starts both. */
export async function startObservingGateway(settings: TestSettings = {}): Promise<ObservingGateway> {
  const old = await startFakeV4();
  const gateway = await openListeningGateway({
    LEGACY_URL: old.url,
    UPSTREAM_TIMEOUT_MS: "10000",
    ...settings,
  });
  return {
    ...gateway,
    old,
    async readLastRecord() {
      return (await gateway.requestAdmin("GET /api/audit?limit=1")).body.records[0];
    },
  };
}
