/** A gateway in front of a fake v4. It has no sandbox. */
export { waitFor } from "./wait-for.ts";
import { startFakeV4, type FakeV4 } from "./fake-v4.ts";
import {
  openGateway,
  openListeningGateway,
  type Listening,
  type TestGateway,
  type TestSettings,
} from "./gateway.ts";
import type { TestResponse } from "./request.ts";

export interface GatewayWithFakeV4 extends TestGateway {
  readonly v4: FakeV4;
  /** Reads the newest record of the audit, with its bodies. */
  readLastRecord(): Promise<TestResponse["body"]>;
}

export type ListeningGatewayWithFakeV4 = GatewayWithFakeV4 & Listening;

async function withFakeV4<T extends TestGateway>(
  open: (settings: TestSettings) => Promise<T>,
  settings: TestSettings,
): Promise<T & GatewayWithFakeV4> {
  const v4 = await startFakeV4();
  const gateway = await open({
    UPSTREAM_URL: v4.url,
    AUTH_URL: v4.url,
    UPSTREAM_TIMEOUT_MS: "10000",
    ...settings,
  });
  return {
    ...gateway,
    v4,
    async readLastRecord() {
      return (await gateway.requestAdmin("GET /api/audit?limit=1")).body.records[0];
    },
  };
}

/** Creates both. */
export const startGatewayWithFakeV4 = (settings: TestSettings = {}): Promise<GatewayWithFakeV4> =>
  withFakeV4(openGateway, settings);

/** The same with a gateway that listens. For tests of connections. */
export const startListeningGatewayWithFakeV4 = (
  settings: TestSettings = {},
): Promise<ListeningGatewayWithFakeV4> => withFakeV4(openListeningGateway, settings);
