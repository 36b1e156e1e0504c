/** A gateway before a fake v4, and the record of what it did. */
import { startFakeV4, type FakeV4 } from "./fake-v4.ts";
import { startGateway, type Gateway, type TestResponse } from "./gateway.ts";

export interface GatewayWithFakeV4 extends Gateway {
  readonly v4: FakeV4;
  /** The newest record of the audit, whole. */
  readLastRecord(): Promise<TestResponse["body"]>;
}

/** Starts both. A record is committed before the client has its answer. */
export async function startGatewayWithFakeV4(
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayWithFakeV4> {
  const v4 = await startFakeV4();
  const gateway = await startGateway({
    UPSTREAM_URL: v4.url,
    UPSTREAM_TIMEOUT_MS: "10000",
    AUDIT_DURABILITY: "strict",
    ...settings,
  });
  const read = async (path: string): Promise<TestResponse["body"]> =>
    (await fetch(`${gateway.service.adminUrl}${path}`)).json();
  return {
    ...gateway,
    v4,
    async readLastRecord() {
      return (await read("/api/audit?limit=1")).records[0];
    },
    async stop() {
      await gateway.stop();
      await v4.close();
    },
  };
}

/** Waits for something that is to come about by itself. The test's own time limit ends the wait. */
export async function waitFor<T>(look: () => T | Promise<T>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
