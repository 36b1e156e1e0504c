/** A gateway with two sides: the old service for everybody, and the translation for whom ROLLOUT_FILE names. */
import { startGateway, type Gateway, type TestResponse, type TestSettings } from "../../support/gateway.ts";
import type { TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";

export const LIST = "GET /vm/instances";
/** Nothing is compared: the old service gets what it serves. */
export const ALONE = "\ncompare: { share: 0% }";
export const CLIENTS =
  "billing: { user_agents: [billing/*], applications: [app-1] }\nreports: { user_agents: [reports/*] }\n";

export interface TwoSides {
  readonly gateway: Gateway;
  readonly rolloutFile: string;
  readonly clientsFile: string;
  call(client: string | null, call?: string, options?: object): Promise<TestResponse>;
}

export const isOld = ({ body }: TestResponse): boolean => body?.from === "old";

/** Starts a gateway in front of an old service that answers `{ "from": "old" }`. */
export async function startTwoSides(
  old: TestOldService,
  rollout: string,
  settings: TestSettings = {},
): Promise<TwoSides> {
  const rolloutFile = settings["ROLLOUT_FILE"] ?? writeOperatorFile(rollout + ALONE, "rollout.yaml");
  const clientsFile = settings["CLIENTS_FILE"] ?? writeOperatorFile(CLIENTS, "clients.yaml");
  const gateway = await startGateway({
    LEGACY_URL: old.url,
    UPSTREAM_TIMEOUT_MS: "2000",
    ...settings,
    CLIENTS_FILE: clientsFile,
    ROLLOUT_FILE: rolloutFile,
  });
  return {
    gateway,
    rolloutFile,
    clientsFile,
    call: (client, call = LIST, options = {}) =>
      gateway.request(call, {
        headers: { "user-agent": client === null ? "curl/8" : `${client}/1` },
        ...options,
      }),
  };
}
