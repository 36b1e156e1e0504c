/** Container clusters (V-143 to V-146). */

import { objectOf, objectsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { notFound } from "../../http/problem.ts";
import { unknownIds } from "../../resource/find-rows.ts";
import type { ActionCall, Call, Resource, RowCall } from "../../resource/resource-declaration.ts";
import { requireNoOutstandingBalance } from "../account/account.ts";
import { addPool, poolBody, poolErrors, recyclePool } from "./node-pool.ts";
import { tags } from "../label-fields.ts";
import { childHome } from "../../store/homes.ts";

function checkCluster(call: Call): FieldError[] {
  const pools = objectsOf(call.body["node_pools"]);
  return [
    ...unknownIds(call, { region: "region", k8s_version: "orchVersion" }),
    ...pools.flatMap((each, index) => poolErrors(call.store, each, `node_pools[${index}].`)),
  ];
}

function checkUpdate({ store, body, row }: RowCall): FieldError[] {
  const errors: FieldError[] = [];
  const version = body["k8s_version"];
  const current = String(row.value["k8s_version"]);
  if (version !== undefined && version !== current) {
    const [major = 0, minor = 0] = current.split(".").map(Number);
    const next = `${major}.${minor + 1}`;
    if (version !== next || !store.table("orchVersion").get(next))
      errors.push({ reason: "k8s_version must be the next minor version", field: "k8s_version" });
  }
  const wanted = objectOf(body["control_plane"])["high_availability"];
  const has = objectOf(row.value["control_plane"])["high_availability"];
  if (has && wanted === false)
    errors.push({
      reason: "High availability can't be taken back",
      field: "control_plane.high_availability",
    });
  return errors;
}

/** Replaces the node that the path names. @throws {Problem} 404 if the cluster has no such node. */
function recycleNode(call: ActionCall): void {
  for (const pool of call.store.table("pool").inHome(childHome("cluster", call.row.id))) {
    const index = pool.value.nodes.findIndex(({ id }) => id === call.params["node"]);
    if (index >= 0) return recyclePool(call, pool, [index]);
  }
  throw notFound();
}

export const cluster: Resource = {
  owner: "account",
  access: "required",
  area: "orch",
  name: "cluster",
  path: "/orch/clusters",
  id: "integer",
  grant: "unrestricted",
  entity: { type: "orchcluster", url: "/v4/orch/clusters/{id}" },
  fields: {
    id: { type: "integer" },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    label: { type: "string", min: 1, max: 32, filter: true, required: true, write: true },
    region: { type: "string", filter: true, required: true, create: true },
    k8s_version: { type: "string", filter: true, required: true, write: true },
    control_plane: { type: "object", members: { high_availability: { type: "boolean" } }, write: true },
    tags: { ...tags, filter: true, write: true },
  },
  list: {},
  read: true,
  create: {
    body: {
      label: { type: "string", min: 1, max: 32, required: true },
      region: { type: "string", required: true },
      k8s_version: { type: "string", required: true },
      tags,
      node_pools: { type: "objects", min: 1, max: 20, members: poolBody, required: true },
      control_plane: { type: "object", members: { high_availability: { type: "boolean" } } },
    },
    validate: checkCluster,
    checkPreconditions: requireNoOutstandingBalance,
    afterCreate(call, row) {
      delete row.value["node_pools"];
      for (const each of objectsOf(call.body["node_pools"])) addPool(call, row, each);
    },
  },
  update: { validate: checkUpdate },
  actions: [
    {
      method: "GET",
      path: "/dashboard",
      run: ({ row }) => ({ url: `https://${String(row.id)}.clusters.example.com:443` }),
    },
    { method: "POST", path: "/nodes/:node/recycle", run: recycleNode },
  ],
};
