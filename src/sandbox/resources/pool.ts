/** Node pools of a cluster (document 1, Node pool). */

import type { Resource } from "../resource/declaration.ts";
import type { Row } from "../store/table.ts";
import { refuseOutstanding } from "./outstanding.ts";
import { addPool, autoscalerErrors, dropNodes, poolBody, poolErrors, recyclePool } from "./pool-nodes.ts";
import type { Pool, Value } from "./shapes.ts";

export const pool: Resource<Pool> = {
  name: "pool",
  path: "/pools",
  parent: "cluster",
  id: "integer",
  owner: "account",
  access: "required",
  area: "orch",
  fields: {
    id: { type: "integer", filter: true },
    type: { type: "string" },
    count: { type: "integer", min: 1, max: 100, write: true },
    disks: { type: "objects" },
    nodes: { type: "objects" },
    autoscaler: { ...poolBody["autoscaler"], type: "object", write: true },
    tags: { type: "strings", filter: true },
  },
  list: {},
  read: true,
  create: {
    body: poolBody,
    validate: ({ store, body }) => poolErrors(store, body, ""),
    checkPreconditions: refuseOutstanding,
    createRow: (call) => addPool(call, call.parents[0] as Row<Value>, call.body),
  },
  update: {
    validate: ({ body }) => autoscalerErrors(body, ""),
    checkPreconditions(call) {
      if (Number(call.body["count"] ?? 0) > call.row.value.count) refuseOutstanding(call);
    },
    afterUpdate(call, before) {
      if (call.row.value.count !== before.count) recyclePool(call, call.row);
    },
  },
  remove: {},
  actions: [{ method: "POST", path: "/recycle", run: (call) => recyclePool(call, call.row) }],
  afterDelete: ({ value }, store) => dropNodes(store, (value as Pool).nodes),
};
