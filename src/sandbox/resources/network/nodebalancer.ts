/** Load balancers. */

import { objectsOf } from "../../fields/typed-values.ts";
import { unknownIds } from "../../resource/find-rows.ts";
import type { Resource } from "../../resource/resource-declaration.ts";
import { addConfig, configBody, configErrors } from "./nodebalancer-config.ts";
import { tags } from "../label-fields.ts";

export const nodebalancer: Resource = {
  id: "integer",
  owner: "account",
  access: "required",
  area: "loadbalancers",
  name: "nodebalancer",
  path: "/nodebalancers",
  grant: { entity: "nodebalancer", add: "add_nodebalancers" },
  entity: { type: "nodebalancer", url: "/v4/nodebalancers/{id}" },
  fields: {
    id: { type: "integer" },
    label: {
      type: "string",
      min: 3,
      max: 32,
      pattern: "[a-zA-Z0-9_-]+",
      unique: "siblings",
      filter: true,
      write: true,
    },
    region: { type: "string", filter: true, required: true, create: true },
    hostname: { type: "string" },
    ipv4: { type: "string", filter: true },
    ipv6: { type: "string", nullable: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    client_conn_throttle: { type: "integer", min: 0, max: 20, write: true },
    transfer: {
      type: "object",
      default: { total: 0, out: 0, in: 0 },
    },
    tags: { ...tags, filter: true, write: true },
  },
  list: {},
  read: true,
  create: {
    body: {
      region: { type: "string", required: true },
      label: { type: "string", min: 3, max: 32, pattern: "[a-zA-Z0-9_-]+", unique: "siblings" },
      client_conn_throttle: { type: "integer", min: 0, max: 20 },
      tags,
      configs: { type: "objects", members: configBody, max: 50 },
    },
    event: "nodebalancer_create",
    validate: (call) => [
      ...unknownIds(call, { region: "region" }),
      ...objectsOf(call.body["configs"]).flatMap((each, index) => configErrors(each, `configs[${index}].`)),
    ],
    computeMembers({ body }, id) {
      const ipv4 = `203.0.113.${(Number(id) % 250) + 1}`;
      return {
        label: body["label"] ?? `balancer${id}`,
        hostname: `${ipv4.replaceAll(".", "-")}.ip.usercontent.example.com`,
        ipv4,
        ipv6: `2001:db8:1:${(Number(id) & 0xffff).toString(16)}::1`,
      };
    },
    afterCreate(call, row) {
      for (const each of objectsOf(call.body["configs"])) addConfig(call, row, each);
    },
  },
  update: { event: "nodebalancer_update" },
  remove: { event: "nodebalancer_delete" },
};
