/** Stored scripts (v4, Stored scripts): public ones for everyone, an account's own beside them. */

import type { Fault } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import type { Call, CallOnRow, Resource, View } from "../resource/declaration.ts";
import { record } from "../resource/events.ts";
import { holds } from "../resource/grants.ts";
import type { Row } from "../store/table.ts";
import { everyone } from "../store/table.ts";
import { avatarOf } from "./avatar.ts";
import type { Level } from "./hidden.ts";
import { questionsOf } from "./script-questions.ts";
import type { Script } from "./shapes.ts";

/** Anyone reads a public script; only its author's account changes it. */
function mayUse({ home, value, id }: Row<Script>, { world, caller }: View, level: Level): boolean {
  if (home === everyone && level === "read_only") return true;
  const own = home === caller.account || world.table("user").get(value.username)?.home === caller.account;
  return own && holds(caller, "stackscript", Number(id), level);
}

function checkScript({ world, caller, body, row }: Call): Fault[] {
  const faults: Fault[] = [];
  const images = body["images"];
  if (Array.isArray(images)) {
    const known = (id: unknown): boolean => {
      const home = world.table("image").get(id)?.home;
      return home === everyone || home === caller.account;
    };
    const unknown = images.filter((id) => !known(id));
    if (unknown.length > 0)
      faults.push({ reason: `images: ${unknown.join(", ")} is not valid`, field: "images" });
  }
  const held = row?.value as Script | undefined;
  if (held?.is_public && body["is_public"] === false)
    faults.push({ reason: "A public script can't become private again", field: "is_public" });
  return faults;
}

/** Whoever publishes a script shares it with everyone: it moves there. */
function changed(call: CallOnRow<Script>, before: Script): void {
  const { row } = call;
  const { value } = row;
  value.user_defined_fields = questionsOf(value.script);
  if (value.is_public && !before.is_public) {
    publish(call, row);
    record(call, "stackscript_publicize", row);
  } else record(call, value.script === before.script ? "stackscript_update" : "stackscript_revise", row);
}

function publish({ world }: Call, { id, value, home }: Row<Script>): void {
  if (home === everyone) return;
  world.table("script").remove(id);
  world.table("script").add(everyone, id, value);
}

export const script: Resource<Script> = {
  name: "script",
  path: "/vm/stackscripts",
  id: "integer",
  owner: "both",
  access: "optional",
  area: "scripts",
  grant: { entity: "stackscript", add: "add_stackscripts" },
  entity: { type: "stackscript", url: "/v4/vm/stackscripts/{id}" },
  fields: {
    id: { type: "integer" },
    username: { type: "string" },
    user_avatar_id: { type: "string" },
    label: { type: "string", min: 3, max: 128, required: true, filter: true, write: true },
    description: { type: "string", filter: true, write: true },
    images: { type: "strings", min: 1, required: true, write: true },
    deployments_total: { type: "integer", filter: true },
    deployments_active: { type: "integer" },
    is_public: { type: "boolean", filter: true, write: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    rev_note: { type: "string", filter: true, write: true },
    script: { type: "string", min: 1, max: 65_535, required: true, write: true },
    user_defined_fields: { type: "objects" },
    mine: { type: "boolean", filter: true },
  },
  list: {},
  read: true,
  visible: mayUse,
  present: ({ value }, { caller }) => ({ ...value, mine: value.username === caller.user }),
  create: {
    event: "stackscript_create",
    most: 1000,
    check: checkScript,
    fill: ({ caller, body }) => ({
      username: caller.user,
      user_avatar_id: avatarOf(caller.user),
      user_defined_fields: questionsOf(String(body["script"])),
    }),
    made(call, row) {
      if (row.value.is_public) publish(call, row);
    },
  },
  update: { check: checkScript, changed },
  remove: {
    event: "stackscript_delete",
    guard({ row }) {
      if (row.value.is_public) throw invalid("A public script can't be deleted");
    },
  },
};
