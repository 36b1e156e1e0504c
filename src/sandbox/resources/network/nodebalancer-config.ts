/** Configurations (ports) of a load balancer and their backend nodes. */

import {
  type Field,
  type Fields,
  applyFields,
  creatableFields,
  defaultValues,
  type Body,
} from "../../fields/field.ts";
import { objectsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { parentOf } from "../../resource/find-rows.ts";
import type { Call, CallContext, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { UntypedRow } from "../row-types.ts";
import { childHome } from "../../store/homes.ts";

const common = {
  id: "integer",
  owner: "account",
  access: "required",
  area: "loadbalancers",
} as const;
const choice = (otherwise: string, ...values: string[]): Field => ({
  type: "string",
  values,
  default: otherwise,
  write: true,
});
const redacted = "<REDACTED>";

const nodeFields: Fields = {
  id: { type: "integer" },
  address: {
    type: "string",
    pattern: "192\\.168\\.\\d{1,3}\\.\\d{1,3}:\\d{1,5}",
    required: true,
    write: true,
  },
  label: { type: "string", min: 3, max: 32, pattern: "[a-zA-Z0-9_.-]+", required: true, write: true },
  status: { type: "string", default: "unknown" },
  weight: { type: "integer", min: 1, max: 255, default: 50, write: true },
  mode: choice("accept", "accept", "reject", "drain", "backup"),
  config_id: { type: "integer" },
  nodebalancer_id: { type: "integer" },
};

const configFields: Fields = {
  id: { type: "integer" },
  port: { type: "integer", min: 1, max: 65_535, default: 80, write: true },
  protocol: choice("http", "http", "https", "tcp"),
  algorithm: choice("roundrobin", "roundrobin", "leastconn", "source"),
  stickiness: choice("none", "none", "table", "http_cookie"),
  check: choice("none", "none", "connection", "http", "http_body"),
  check_interval: { type: "integer", min: 0, max: 3600, default: 5, write: true },
  check_timeout: { type: "integer", min: 1, max: 30, default: 3, write: true },
  check_attempts: { type: "integer", min: 1, max: 30, default: 2, write: true },
  check_path: { type: "string", max: 255, pattern: "[a-zA-Z0-9/%?&=.-]*", write: true },
  check_body: { type: "string", max: 255, write: true },
  check_passive: { type: "boolean", default: true, write: true },
  proxy_protocol: choice("none", "none", "v1", "v2"),
  cipher_suite: choice("recommended", "recommended", "legacy"),
  nodebalancer_id: { type: "integer" },
  ssl_commonname: { type: "string", nullable: true },
  ssl_fingerprint: { type: "string", nullable: true },
  ssl_cert: { type: "string", nullable: true, max: 65_535, write: true },
  ssl_key: { type: "string", nullable: true, max: 65_535, write: true },
};

function addNode({ store, at }: Pick<CallContext, "store" | "at">, { value }: Row, given: UntypedRow): Row {
  const table = store.table("nodebalancerNode");
  const id = table.nextId();
  const node = defaultValues(nodeFields, at);
  applyFields(creatableFields(nodeFields), given, node);
  const references = { id, status: "UP", config_id: value["id"], nodebalancer_id: value["nodebalancer_id"] };
  return table.add(childHome("nodebalancerConfig", Number(value["id"])), id, Object.assign(node, references));
}

export function addConfig(view: CallContext, balancer: Row, given: UntypedRow): Row {
  const table = view.store.table("nodebalancerConfig");
  const id = table.nextId();
  const config = defaultValues(configFields, view.at);
  applyFields(creatableFields(configFields), given, config);
  Object.assign(config, { id, nodebalancer_id: balancer.id });
  const row = table.add(childHome("nodebalancer", balancer.id), id, config);
  setCertificateMembers(row);
  for (const node of objectsOf(given["nodes"])) addNode(view, row, node);
  return row;
}

/** Sets the certificate members that responses show. */
function setCertificateMembers({ value }: Row): void {
  const secured = value["protocol"] === "https";
  value["ssl_commonname"] = secured ? "www.example.com" : null;
  value["ssl_fingerprint"] = secured ? "00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F" : null;
}

/** Returns a configuration as responses contain it, with redacted certificates and keys. */
function presentConfig({ id, value }: Row, { store }: CallContext): UntypedRow {
  const nodes = [...store.table("nodebalancerNode").inHome(childHome("nodebalancerConfig", id))];
  const up = nodes.filter((node) => node.value["status"] === "UP").length;
  return {
    ...value,
    ssl_cert: value["ssl_cert"] === null ? null : redacted,
    ssl_key: value["ssl_key"] === null ? null : redacted,
    nodes_status: { up, down: nodes.length - up },
  };
}

function checkConfig({ store, body, parents, row }: Call): FieldError[] {
  const errors = configErrors({ ...row?.value, ...body }, "");
  const port = body["port"] ?? (row ? undefined : 80);
  const ports = [
    ...store.table("nodebalancerConfig").inHome(childHome("nodebalancer", parents[0]?.id ?? "")),
  ];
  if (ports.some((other) => other !== row && other.value["port"] === port))
    errors.push({ reason: "port is already in use", field: "port" });
  return errors;
}

/** Checks that the timeout does not exceed the interval. An interval of 0 disables periodic checks. */
function timeoutErrors(config: UntypedRow, prefix: string): FieldError[] {
  const { check_interval: interval = 5, check_timeout: timeout = 3 } = config;
  const late =
    typeof timeout === "number" && typeof interval === "number" && interval > 0 && timeout > interval;
  const field = `${prefix}check_timeout`;
  return late ? [{ reason: "check_timeout must not be above check_interval", field }] : [];
}

/** Checks the range of the port, because the field's pattern accepts any five digits. */
function portErrors({ address }: Body, prefix: string): FieldError[] {
  const port = typeof address === "string" ? /:(\d{1,5})$/.exec(address)?.[1] : undefined;
  const valid = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  return valid ? [] : [{ reason: "address must have a port from 1 to 65535", field: `${prefix}address` }];
}

/** Validates a configuration and the nodes in it. */
export function configErrors(config: UntypedRow, prefix: string): FieldError[] {
  return [
    ...certificateErrors(config, prefix),
    ...timeoutErrors(config, prefix),
    ...objectsOf(config["nodes"]).flatMap((node, index) => portErrors(node, `${prefix}nodes[${index}].`)),
  ];
}

function certificateErrors(config: UntypedRow, prefix: string): FieldError[] {
  if (config["protocol"] !== "https") return [];
  return ["ssl_cert", "ssl_key"]
    .filter((field) => !config[field])
    .map((field) => ({ reason: `${field} is required for https`, field: prefix + field }));
}

export const configBody: Fields = {
  ...creatableFields(configFields),
  nodes: { type: "objects", members: creatableFields(nodeFields), max: 100 },
};

const ofBalancer = { type: "nodebalancer", url: "/v4/nodebalancers/{id}" };

export const nodebalancerConfig: Resource = {
  ...common,
  name: "nodebalancerConfig",
  path: "/configs",
  parent: "nodebalancer",
  entity: { ...ofBalancer, ofParent: true },
  fields: configFields,
  list: {},
  read: true,
  serialize: presentConfig,
  create: {
    body: configBody,
    event: "nodebalancer_config_create",
    maxRows: 100,
    validate: checkConfig,
    createRow: (call) => addConfig(call, parentOf(call), call.body),
  },
  update: {
    event: "nodebalancer_config_update",
    validate: checkConfig,
    afterUpdate: ({ row }) => setCertificateMembers(row),
  },
  remove: { event: "nodebalancer_config_delete" },
};

export const nodebalancerNode: Resource = {
  ...common,
  name: "nodebalancerNode",
  path: "/nodes",
  parent: "nodebalancerConfig",
  // Events of a node name the load balancer, not its direct parent, the configuration.
  entity: { ...ofBalancer, id: (value) => Number(value["nodebalancer_id"]) },
  scopes: { read: ["loadbalancers:read_write"] },
  fields: nodeFields,
  list: {},
  read: true,
  create: {
    event: "nodebalancer_node_create",
    validate: ({ body }) => portErrors(body, ""),
    createRow: (call) => addNode(call, parentOf(call), call.body),
  },
  update: { event: "nodebalancer_node_update", validate: ({ body }) => portErrors(body, "") },
  remove: { event: "nodebalancer_node_delete" },
};
