import { startListeningGateway, type ListeningGateway, type TestSettings } from "../../support/gateway.ts";

/** A gateway whose requests are compared with its audit afterwards. */
export interface RecordedGateway {
  readonly gateway: ListeningGateway;
  readonly admin: string;
  /** Ids of the requests that got 200. */
  readonly succeeded: readonly string[];
  /** Number of the requests that got another status. */
  failedCount(): number;
  /** Sends a read with an id of its own, and returns its status. */
  send(): Promise<number>;
}

let requests = 0;

/** Starts a gateway whose audit has no bodies. */
export async function startRecordedGateway(
  durability: string,
  settings: TestSettings,
): Promise<RecordedGateway> {
  const gateway = await startListeningGateway({
    AUDIT: "metadata",
    AUDIT_DURABILITY: durability,
    ...settings,
  });
  const succeeded: string[] = [];
  let failed = 0;
  return {
    gateway,
    admin: gateway.adminUrl,
    succeeded,
    failedCount: () => failed,
    async send() {
      const id = `request-${++requests}`;
      const { status } = await gateway.request("GET /vm/instances", { headers: { "x-request-id": id } });
      if (status === 200) succeeded.push(id);
      else failed += 1;
      return status;
    },
  };
}
