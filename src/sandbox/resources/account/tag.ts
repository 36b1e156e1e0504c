/** Tags: those in use on entities and those created in advance. */

import type { Field } from "../../fields/field.ts";
import { numbersOf, stringsOf } from "../../fields/typed-values.ts";
import { invalid, notFound } from "../../http/problem.ts";
import { forbidden } from "../../resource/access-control.ts";
import { serializeRow } from "../../resource/list-handler.ts";
import type { ActionCall, Call, CallContext, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { RowTypes } from "../row-types.ts";

const kinds = ["instance", "domain", "volume", "nodebalancer"] as const;
type Kind = (typeof kinds)[number];
const ids: Field = { type: "integers" };

/** Returns the body members that list entity ids, with the kind of entity. */
function members({ store }: CallContext): readonly (readonly [member: string, kind: Kind])[] {
  return [
    [store.names.instanceIds, "instance"],
    ["domains", "domain"],
    ["volumes", "volume"],
    ["nodebalancers", "nodebalancer"],
  ];
}

function tagsOf({ value }: Row): string[] {
  return stringsOf(value["tags"]);
}

function carriers({ store, caller }: CallContext, label: string): { kind: Kind; row: Row }[] {
  return kinds.flatMap((kind) =>
    [...store.table<keyof RowTypes>(kind).inHome(caller.account)]
      .filter((row) => tagsOf(row).includes(label))
      .map((row) => ({ kind, row })),
  );
}

function rowOf({ caller }: CallContext, label: string): Row {
  return { id: label, home: caller.account, job: 0, value: { label } };
}

function all(view: CallContext): readonly Row[] {
  const { store, caller } = view;
  const labels = new Set(
    [...store.table("tag").inHome(caller.account)].map(({ value }) => String(value["label"])),
  );
  for (const kind of kinds) {
    for (const row of store.table<keyof RowTypes>(kind).inHome(caller.account)) {
      for (const label of tagsOf(row)) labels.add(label);
    }
  }
  return [...labels].sort().map((label) => rowOf(view, label));
}

function make(call: Call): Row {
  const { store, caller, body } = call;
  const label = String(body["label"]);
  const found = members(call).flatMap(([member, kind]) =>
    numbersOf(body[member]).map((id) => {
      const row = store.table<keyof RowTypes>(kind).get(id);
      if (row?.home !== caller.account) throw invalid(`${member}: ${id} is not valid`, member);
      return row;
    }),
  );
  for (const row of found) if (!tagsOf(row).includes(label)) tagsOf(row).push(label);
  return store.table("tag").add(caller.account, `${caller.account} ${label}`, { label });
}

/** Returns the entities with this tag, each as its own resource presents it. */
function tagged(call: ActionCall): Row[] {
  const label = call.params["tag"] ?? "";
  if (!all(call).some(({ id }) => id === label)) throw notFound();
  return carriers(call, label).map(({ kind, row }) => {
    const resource = call.store.resource(kind);
    const type = resource.entity?.type ?? kind;
    return { id: row.id, home: row.home, job: 0, value: { type, data: serializeRow(resource, row, call) } };
  });
}

function removeTag(call: ActionCall): void {
  const { store, caller, params } = call;
  const label = params["tag"] ?? "";
  if (caller.grants) throw forbidden();
  if (!all(call).some(({ id }) => id === label)) throw notFound();
  for (const { row } of carriers(call, label)) {
    const tags = tagsOf(row);
    tags.splice(tags.indexOf(label), 1);
  }
  store.table("tag").remove(`${caller.account} ${label}`);
}

export const tag: Resource = {
  name: "tag",
  path: "/tags",
  id: "text",
  owner: "account",
  access: "required",
  area: "account",
  fields: { label: { type: "string" } },
  list: { rows: all },
  create: {
    body: {
      label: { type: "string", min: 3, max: 50, required: true },
      vms: ids,
      domains: ids,
      volumes: ids,
      nodebalancers: ids,
    },
    checkPreconditions({ caller }) {
      if (caller.grants) throw forbidden();
    },
    createRow: make,
  },
  actions: [
    { on: "collection", method: "GET", path: "/:tag", returnsRows: "tag", run: tagged },
    { on: "collection", method: "DELETE", path: "/:tag", run: removeTag },
  ],
};

// Field rules for labels and tags that several resources share.

/** The documented rule. The product word alone, alpha's default label, is shorter and also accepted. */
export const instanceLabel: Field = {
  type: "string",
  min: 3,
  max: 64,
  pattern: "[a-zA-Z0-9](?:(?!--|__|\\.\\.)[a-zA-Z0-9._-])*[a-zA-Z0-9]",
  alwaysAllowed: ["vm"],
};

export const tags: Field = { type: "strings", max: 500, items: { type: "string", min: 3, max: 50 } };
