/** Managed MySQL databases and their backups (V-082, V-084 to V-086, V-137 to V-142). */

import { randomBytes } from "node:crypto";
import type { Field, Fields } from "../../fields/field.ts";
import { invalid } from "../../http/problem.ts";
import { unknownIds } from "../../resource/find-rows.ts";
import type { ActionCall, Call, Resource } from "../../resource/resource-declaration.ts";
import type { TransitionStage } from "../../resource/transitions.ts";
import { startTransition } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import { childHome } from "../../store/homes.ts";

const ofAccount = { owner: "account", access: "required", area: "databases", grant: "unrestricted" } as const;
const building = 20;
/** Duration of a restore and of a patch, in seconds. */
const restoring = 10;

const label: Field = { type: "string", min: 3, max: 32, filter: true, write: true, unique: "siblings" };
const allowList: Field = {
  type: "strings",
  max: 100,
  items: { type: "string", pattern: "(?:\\d{1,3}\\.){3}\\d{1,3}(?:/(?:\\d|[12]\\d|3[0-2]))?" },
  write: true,
};
const updates: Field = {
  type: "object",
  write: true,
  default: { frequency: "weekly", duration: 3, hour_of_day: 0, day_of_week: 1, week_of_month: 1 },
  members: {
    frequency: { type: "string", values: ["weekly", "monthly"] },
    duration: { type: "integer", min: 1, max: 3 },
    hour_of_day: { type: "integer", min: 0, max: 23 },
    day_of_week: { type: "integer", min: 1, max: 7 },
    week_of_month: { type: "integer", min: 1, max: 4 },
  },
};

const fields: Fields = {
  id: { type: "integer" },
  label,
  type: { type: "string", filter: true },
  engine: { type: "string", filter: true },
  version: { type: "string", filter: true },
  region: { type: "string", filter: true },
  status: { type: "string", filter: true },
  encrypted: { type: "boolean" },
  allow_list: allowList,
  cluster_size: { type: "integer", default: 1 },
  hosts: { type: "object" },
  ssl_connection: { type: "boolean" },
  replication_type: { type: "string", default: "none" },
  port: { type: "integer", default: 3306 },
  created: { type: "date-time" },
  updated: { type: "date-time" },
  updates,
};

/** Checks the status of a database. @throws {Problem} 400 unless it is one of `allowed`. */
function requireStatus(row: Row, doing: string, ...allowed: string[]): void {
  const status = String(row.value["status"]);
  if (!allowed.includes(status)) throw invalid(`A database that is ${status} can't be ${doing}`);
}

/** Starts a transition that ends in status `active`. */
function startDatabaseJob(call: Call, row: Row, stages: readonly TransitionStage[]): void {
  startTransition(call.store, "database", row, call.at, [
    ...stages,
    { status: "active", durationSeconds: 0 },
  ]);
}

function newCredentials(): string {
  return randomBytes(12).toString("base64url");
}

export const database: Resource = {
  ...ofAccount,
  name: "database",
  path: "/databases/mysql/instances",
  id: "integer",
  entity: { type: "database", url: "/v4/databases/mysql/instances/{id}" },
  fields,
  list: {},
  read: true,
  create: {
    body: {
      label: { type: "string", min: 3, max: 32, required: true, unique: "siblings" },
      type: { type: "string", required: true },
      engine: { type: "string", required: true },
      region: { type: "string", required: true },
      encrypted: { type: "boolean" },
      allow_list: allowList,
      cluster_size: { type: "integer", min: 1, max: 3 },
      ssl_connection: { type: "boolean" },
      replication_type: { type: "string", values: ["none", "asynch", "semi_synch"] },
      updates,
    },
    validate: (call) => unknownIds(call, { type: "databaseType", region: "region", engine: "engine" }),
    computeMembers({ store, body }, id) {
      const { engine, version } = store.table("engine").get(body["engine"])?.value ?? {};
      const host = `vm-${id}-mysql-primary.servers.example.com`.replace("vm", store.names.label);
      return {
        engine,
        version,
        status: "provisioning",
        hosts: {
          primary: host,
          secondary: body["cluster_size"] === 3 ? host.replace("primary", "secondary") : null,
        },
      };
    },
    afterCreate(call, row) {
      row.hidden = { secret: newCredentials() };
      startDatabaseJob(call, row, [{ status: "provisioning", durationSeconds: building }]);
    },
  },
  update: {},
  remove: { checkPreconditions: ({ row }) => requireStatus(row, "deleted", "active", "failed", "degraded") },
  actions: [
    {
      on: "service",
      method: "GET",
      path: "/databases/instances",
      returnsRows: "database",
      run: ({ store, caller }) =>
        [...store.table("database").inHome(caller.account)].map((row) => listed(row)),
    },
    {
      method: "GET",
      path: "/credentials",
      run: ({ row }) => ({ username: "root", password: row.hidden?.secret ?? "" }),
    },
    {
      method: "POST",
      path: "/credentials/reset",
      run({ row }) {
        row.hidden = { ...row.hidden, secret: newCredentials() };
      },
    },
    {
      method: "GET",
      path: "/ssl",
      run({ row }) {
        requireStatus(row, "asked for its certificate", "active");
        return { ca_certificate: Buffer.from(`certificate of ${String(row.id)}`).toString("base64") };
      },
    },
    {
      method: "POST",
      path: "/patch",
      run(call) {
        requireStatus(call.row, "patched", "active");
        startDatabaseJob(call, call.row, [{ status: "degraded", durationSeconds: restoring }]);
      },
    },
  ],
};

/** Adds `instance_uri`, which is only part of the list of all engines. */
function listed(row: Row): Row {
  const uri = `/v4/databases/mysql/instances/${String(row.id)}`;
  return { ...row, value: { ...row.value, instance_uri: uri } };
}

// Backups of a database. A database has no backups while it is provisioning (V-086).

function requireBuilt({ parents }: Call): void {
  if (parents[0]?.value["status"] === "provisioning")
    throw invalid("A database that is provisioning has no backups");
}

function restore(call: ActionCall): void {
  const parents = call.parents[0];
  if (!parents) throw new Error("A backup has a database");
  requireStatus(parents, "restored", "active", "degraded", "failed");
  startDatabaseJob(call, parents, [{ status: "degraded", durationSeconds: restoring }]);
}

const backupScopes = ["databases:read_write"];

export const databaseBackup: Resource = {
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
