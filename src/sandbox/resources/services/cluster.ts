/** Container clusters (V-143 to V-146). */

import { objectOf, objectsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid, notFound } from "../../http/problem.ts";
import { childHome, unknownIds } from "../../resource/find-rows.ts";
import type { ActionCall, Call, Resource, RowCall } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { requireNoOutstandingBalance } from "../account/account.ts";
import { addPool, poolBody, poolErrors, recyclePool, removeNode } from "./node-pool.ts";
import type { Pool } from "../row-types.ts";
import { tags } from "../label-fields.ts";

const common = { owner: "account", access: "required", area: "orch" } as const;

export const orchVersion: Resource = {
  ...common,
  owner: "everyone",
  name: "orchVersion",
  path: "/orch/versions",
  id: "text",
  fields: { id: { type: "string" } },
  list: {},
  read: true,
};

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

function poolsOf({ store, row }: { store: Call["store"]; row: Row }): Row<Pool>[] {
  return [...store.table("pool").inHome(childHome("cluster", row.id))];
}

/** Returns the pool and the index of the node that the path names. */
function nodeOf(call: ActionCall): { pool: Row<Pool>; index: number } {
  for (const pool of poolsOf(call)) {
    const index = pool.value.nodes.findIndex(({ id }) => id === call.params["node"]);
    if (index >= 0) return { pool, index };
  }
  throw notFound();
}

function readNode(call: ActionCall): object {
  const { pool, index } = nodeOf(call);
  return { data: pool.value.nodes[index] };
}

function deleteNode(call: ActionCall): void {
  const { pool, index } = nodeOf(call);
  const node = pool.value.nodes[index];
  if (pool.value.count === 1 || !node) throw invalid("A pool keeps one node at least; delete the pool");
  removeNode(call, pool, node);
}

function address({ row }: ActionCall, port: number): string {
  return `https://${String(row.id)}.clusters.example.com:${port}`;
}

function kubeconfig(call: ActionCall): object {
  const text = `apiVersion: v1\nkind: Config\nclusters:\n- name: c${String(call.row.id)}\n  cluster:\n    server: ${address(call, 6443)}\n`;
  return { kubeconfig: Buffer.from(text).toString("base64") };
}

function endpoints(call: ActionCall): Row[] {
  return [443, 6443, 8443].map((port, id) => ({
    id,
    home: "",
    job: 0,
    value: { endpoint: address(call, port) },
  }));
}

export const cluster: Resource = {
  ...common,
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
  remove: {},
  actions: [
    { method: "GET", path: "/dashboard", run: (call) => ({ url: address(call, 443) }) },
    { method: "GET", path: "/api-endpoints", returnsRows: "cluster", run: endpoints },
    { method: "GET", path: "/kubeconfig", scopes: ["orch:read_write"], run: kubeconfig },
    { method: "DELETE", path: "/kubeconfig", run: () => {} },
    {
      method: "POST",
      path: "/recycle",
      run: (call) => poolsOf(call).forEach((pool) => recyclePool(call, pool)),
    },
    { method: "GET", path: "/nodes/:node", scopes: ["orch:read_write"], run: readNode },
    { method: "DELETE", path: "/nodes/:node", run: deleteNode },
    {
      method: "POST",
      path: "/nodes/:node/recycle",
      run(call) {
        const { pool, index } = nodeOf(call);
        recyclePool(call, pool, [index]);
      },
    },
  ],
};
