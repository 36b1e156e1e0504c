import type { RequestListener } from "node:http";
import { NO_CLIENTS } from "../../src/audit/clients/client-directory.ts";
import { createAdminApp, type AdminDeps } from "../../src/console/admin-app.ts";

const OFF = { parts: undefined, close: async () => {} };

/** Creates the admin application of a gateway that is ready and has nothing, but for what a test gives. */
export const adminApp = (deps: Pick<AdminDeps, "metrics"> & Partial<AdminDeps>): RequestListener =>
  createAdminApp({
    readiness: () => [],
    audit: undefined,
    clients: { directory: () => NO_CLIENTS, quietDays: 7 },
    purgeTokens: async () => {},
    features: [
      { feature: { name: "sunset", member: "plan", setting: "SUNSET_FILE" }, ...OFF },
      { feature: { name: "rollout", member: "rollout", setting: "ROLLOUT_FILE" }, ...OFF },
      { feature: { name: "parity", member: "sources", setting: "CANDIDATE_MAPPINGS_DIR" }, ...OFF },
    ],
    names: () => ({ client: "alpha", upstream: "v4" }),
    mappings: () => ({ routes: [] }),
    views: {
      explain: async ({ id }) => ({ explained: id }),
      trace: async ({ id }) => ({ traced: id }),
    },
    ...deps,
  });
