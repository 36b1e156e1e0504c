/** Node pools of a cluster (V-048 to V-057, V-131 to V-136). */

import type { Fields } from "../../fields/field.ts";
import { objectOf, objectsOf, stringsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { parentOf } from "../../resource/find-rows.ts";
import type { CallContext, Resource, Store } from "../../resource/resource-declaration.ts";
import { deleteCascade, jobStages, startTransition } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import { requireNoOutstandingBalance } from "../account/account.ts";
import { addInstance, currentPlan } from "../instances/instance-create.ts";
import type { Instance, Plan, Pool, UntypedRow } from "../row-types.ts";
import { childHome, parentId } from "../../store/homes.ts";

// Nodes of a pool. Each node is an instance of the account; nodes are replaced one at a time.

type Node = Pool["nodes"][number];

/** Seconds until a new node is `ready`. */
const startingNode = 5;
/** Maximum number of partitions (V-055). */
const maxPartitions = 7;

const count = { type: "integer", min: 1, max: 100 } as const;

export const poolBody: Fields = {
  type: { type: "string", required: true },
  count: { ...count, required: true },
  disks: {
    type: "objects",
    max: maxPartitions,
    members: {
      size: { type: "integer", min: 1, required: true },
      type: { type: "string", values: ["raw", "ext4"], required: true },
    },
  },
  autoscaler: { type: "object", members: { enabled: { type: "boolean" }, max: count, min: count } },
  tags: { type: "strings", max: 500 },
};

/** Validates rules of a pool that involve several members. */
export function poolErrors(store: Store, given: UntypedRow, prefix: string): FieldError[] {
  const plan = currentPlan(store, given["type"]);
  const errors: FieldError[] = [];
  const field = `${prefix}type`;
  if (given["type"] !== undefined && !plan) errors.push({ reason: "type is not valid", field });
  // The smallest type and GPU types cannot be nodes.
  if (plan && (plan.class === "nanode" || plan.class === "gpu"))
    errors.push({ reason: `${plan.id} is not supported for nodes`, field });
  if (plan) errors.push(...diskErrors(plan, objectsOf(given["disks"]), `${prefix}disks`));
  return [...errors, ...autoscalerErrors(given, prefix)];
}

/** Checks that the disks fit in the plan. The boot disk gets the remaining space. */
function diskErrors({ disk }: Plan, disks: UntypedRow[], field: string): FieldError[] {
  const errors: FieldError[] = disks.flatMap(({ size }, index) =>
    typeof size === "number" && size > disk
      ? [{ reason: `size is above the ${disk} MB of the type`, field: `${field}[${index}].size` }]
      : [],
  );
  const all = disks.reduce((sum, { size }) => sum + (typeof size === "number" ? size : 0), 0);
  if (errors.length === 0 && all > disk)
    errors.push({ reason: `disks are above the ${disk} MB of the type together`, field });
  return errors;
}

function autoscalerErrors(given: UntypedRow, prefix: string): FieldError[] {
  const { min, max } = objectOf(given["autoscaler"]);
  const field = `${prefix}autoscaler`;
  if ((min === undefined) !== (max === undefined)) return [{ reason: "min and max need each other", field }];
  const swapped = typeof min === "number" && typeof max === "number" && min > max;
  return swapped ? [{ reason: "min is above max", field }] : [];
}

export function addPool(view: CallContext, cluster: Row, given: UntypedRow): Row<Pool> {
  const { store } = view;
  const table = store.table("pool");
  const id = table.nextId();
  const wanted = Number(given["count"]);
  const row = table.add(childHome("cluster", cluster.id), id, {
    autoscaler: { enabled: false, min: wanted, max: wanted, ...objectOf(given["autoscaler"]) },
    type: String(given["type"]),
    count: wanted,
    disks: objectsOf(given["disks"]).map(({ size, type }) => ({ size: Number(size), type: String(type) })),
    id,
    nodes: [],
    tags: [...stringsOf(given["tags"])],
  });
  row.value.nodes = newNodes(store, row, wanted);
  scheduleReplacement(view, row, []);
  return row;
}

/** Replaces nodes until the pool has `count` nodes. @param indexes Nodes to replace. If omitted, all nodes. */
export function recyclePool(view: CallContext, row: Row<Pool>, which?: readonly number[]): void {
  const { nodes, count: wanted } = row.value;
  const leaving = nodes.filter((_, index) => which?.includes(index) ?? true);
  const staying = nodes.length - leaving.length;
  row.value.nodes = [...nodes, ...newNodes(view.store, row, Math.max(0, wanted - staying))];
  scheduleReplacement(view, row, leaving);
}

function newNodes(store: Store, row: Row<Pool>, many: number): Node[] {
  return Array.from({ length: many }, () => {
    const number = (store.table("node").nextId() * 2_654_435_761) % 2 ** 32;
    const id = `${String(row.id)}-${number.toString(16).padStart(8, "0")}`;
    return { id, instance_id: null, status: "not_ready" };
  });
}

/**
 * Schedules the replacement of nodes: one new node becomes ready at a time, and one old node is
 * deleted with it. Everything is scheduled at once, so that a later change of the pool cancels the rest.
 */
function scheduleReplacement(view: CallContext, row: Row<Pool>, leaving: readonly Node[]): void {
  const { store, at } = view;
  row.job += 1;
  let { nodes } = row.value;
  const gone = new Set(leaving.map(({ id }) => id));
  const starting = nodes.filter(({ id, instance_id: instance }) => instance === null && !gone.has(id));
  for (let index = 0; index < Math.max(starting.length, leaving.length); index += 1) {
    const ready = at + startingNode * 1000 * (leaving.length > 0 ? index + 1 : 1);
    const [coming, going] = [starting[index], leaving[index]];
    if (coming) {
      const instance_id = String(startNode(view, row, coming).id);
      nodes = nodes.map((each) =>
        each.id === coming.id ? { id: each.id, instance_id, status: "ready" } : each,
      );
    }
    if (going) nodes = nodes.filter(({ id }) => id !== going.id);
    store.timeline.schedule({ at: ready, table: "pool", id: row.id, job: row.job, set: { nodes } });
    for (const { id, job } of going ? instancesOf(store, [going]) : [])
      store.timeline.schedule({ at: ready, table: "instance", id, job, drop: true });
  }
}

/** Returns the instance of a node, and creates it unless an earlier replacement has created it. */
function startNode(view: CallContext, row: Row<Pool>, node: Node): Row<Instance> {
  const { store, at } = view;
  const [begun] = instancesOf(store, [node]);
  if (begun) return begun;
  const type = store.table("plan").get(row.value.type)?.value;
  if (!type) throw new Error("The type of a pool was checked before");
  const cluster = store.table("cluster").get(parentId(row.home));
  const instance = addInstance(view, {
    plan: type,
    region: String(cluster?.value["region"]),
    label: `${store.names.orchLabel}${String(cluster?.id)}-${node.id}`,
    group: "",
    tags: [],
    image: null,
    backups: false,
    privateIp: true,
  });
  instance.hidden = { node: node.id };
  startTransition(store, "instance", instance, at, jobStages("provisioning", startingNode, "running"));
  return instance;
}

function instancesOf(store: Store, nodes: readonly Node[]): Row<Instance>[] {
  const ids = new Set(nodes.map(({ id }) => id));
  return [...store.table("instance").all()].filter(({ hidden }) => hidden?.node && ids.has(hidden.node));
}

/** Deletes the instances of these nodes. */
function dropNodes(store: Store, nodes: readonly Node[]): void {
  for (const row of instancesOf(store, nodes)) deleteCascade(store, "instance", row);
}

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
    checkPreconditions: requireNoOutstandingBalance,
    createRow: (call) => addPool(call, parentOf(call), call.body),
  },
  update: {
    validate: ({ body }) => autoscalerErrors(body, ""),
    checkPreconditions(call) {
      if (Number(call.body["count"] ?? 0) > call.row.value.count) requireNoOutstandingBalance(call);
    },
    afterUpdate(call, before) {
      if (call.row.value.count !== before.count) recyclePool(call, call.row);
    },
  },
  remove: {},
  actions: [{ method: "POST", path: "/recycle", run: (call) => recyclePool(call, call.row) }],
  afterDelete: ({ value }, store) => dropNodes(store, value.nodes),
};
