/** Backups of a managed database, which has them once it is built (document 1, States and transitions). */

import { invalid } from "../http/problem.ts";
import type { ActionCall, Call, Resource } from "../resource/declaration.ts";
import { childHome } from "../resource/locate.ts";
import { requireStatus, restoring, work } from "./database.ts";
import type { Value } from "./shapes.ts";

function requireBuilt({ parents }: Call): void {
  if (parents[0]?.value["status"] === "provisioning")
    throw invalid("A database that is provisioning has no backups");
}

function restore(call: ActionCall<Value>): void {
  const parents = call.parents[0];
  if (!parents) throw new Error("A backup has a database");
  requireStatus(parents, "restored", "active", "degraded", "failed");
  work(call, parents, [{ status: "degraded", durationSeconds: restoring }]);
}

const backupScopes = ["databases:read_write"];

export const databaseBackup: Resource<Value> = {
  owner: "account",
  access: "required",
  area: "databases",
  grant: "unrestricted",
  name: "databaseBackup",
  path: "/backups",
  parent: "database",
  id: "integer",
  scopes: { list: backupScopes, read: backupScopes },
  fields: {
    id: { type: "integer" },
    type: { type: "string", filter: true, default: "snapshot" },
    label: { type: "string" },
    created: { type: "date-time", filter: true },
  },
  list: {
    rows(call) {
      requireBuilt(call);
      return [...call.store.table("databaseBackup").inHome(childHome("database", call.parents[0]?.id ?? ""))];
    },
  },
  create: {
    body: {
      label: { type: "string", min: 3, max: 64, required: true },
      target: { type: "string", values: ["primary", "secondary"] },
    },
    checkPreconditions: requireBuilt,
    afterCreate: (_call, row) => void delete row.value["target"],
    buildResponse: () => ({}),
  },
  actions: [
    {
      method: "GET",
      path: "",
      scopes: backupScopes,
      returnsRow: "databaseBackup",
      run(call) {
        requireBuilt(call);
        return call.row;
      },
    },
    { method: "POST", path: "/restore", run: restore },
  ],
};
