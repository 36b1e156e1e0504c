/** StackScripts, public and private. */

import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { hasGrant } from "../../resource/access-control.ts";
import { recordEvent } from "../../resource/event-log.ts";
import type { Call, CallContext, Resource, RowCall } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { publicHome } from "../../store/homes.ts";
import type { Level } from "../hidden-state.ts";
import type { Script, ScriptQuestion } from "../row-types.ts";
import { avatarOf } from "../account/user.ts";

/** Whether a caller can read a script. All callers can read public scripts, but only the author's account can change them. */
function isScriptVisible(
  { home, value, id }: Row<Script>,
  { store, caller }: CallContext,
  level: Level,
): boolean {
  if (home === publicHome && level === "read_only") return true;
  const isOwn = home === caller.account || store.table("user").get(value.username)?.home === caller.account;
  return isOwn && hasGrant(caller, "stackscript", Number(id), level);
}

function checkScript({ store, caller, body, row }: Call<Script>): FieldError[] {
  const errors: FieldError[] = [];
  const images = body["images"];
  if (Array.isArray(images)) {
    const isUsable = (id: unknown): boolean => {
      const home = store.table("image").get(id)?.home;
      return home === publicHome || home === caller.account;
    };
    const unknown = images.filter((id) => typeof id === "string" && !isUsable(id));
    if (unknown.length > 0)
      errors.push({ reason: `images: ${unknown.join(", ")} is not valid`, field: "images" });
  }
  if (row?.value.is_public && body["is_public"] === false)
    errors.push({ reason: "A public script can't become private again", field: "is_public" });
  return errors;
}

/** Moves a published script to the public home. */
function changed(call: RowCall<Script>, before: Script): void {
  const { row } = call;
  const { value } = row;
  value.user_defined_fields = parseQuestions(value.script);
  if (value.is_public && !before.is_public) {
    publish(call, row);
    recordEvent(call, "stackscript_publicize", row);
  } else recordEvent(call, value.script === before.script ? "stackscript_update" : "stackscript_revise", row);
}

function publish({ store }: Call, { id, value, home }: Row<Script>): void {
  if (home === publicHome) return;
  store.table("script").remove(id);
  store.table("script").add(publicHome, id, value);
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
  isVisible: isScriptVisible,
  serialize: ({ value }, { caller }) => ({ ...value, mine: value.username === caller.user }),
  create: {
    event: "stackscript_create",
    maxRows: 1000,
    validate: checkScript,
    computeMembers: ({ caller, body }) => ({
      username: caller.user,
      user_avatar_id: avatarOf(caller.user),
      user_defined_fields: parseQuestions(String(body["script"])),
    }),
    afterCreate(call, row) {
      if (row.value.is_public) publish(call, row);
    },
  },
  update: { validate: checkScript, afterUpdate: changed },
  remove: {
    event: "stackscript_delete",
    checkPreconditions({ row }) {
      if (row.value.is_public) throw invalid("A public script can't be deleted");
    },
  },
};

// Questions of a script, parsed from its comments: `# <UDF name="DOMAIN" label="Domain" default="">`.

/** Maximum number of parsed questions, so that a hostile script can't enlarge a response. */
const mostQuestions = 100;

export function parseQuestions(script: string): ScriptQuestion[] {
  const tags = script.split("\n").flatMap((line) => /^\s*#\s*<UDF\s([^>]*)>/i.exec(line)?.[1] ?? []);
  return tags.slice(0, mostQuestions).flatMap((tag) => {
    const attributes = new Map(
      [...tag.matchAll(/(?<!\w)(\w+)\s*=\s*"([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key.toLowerCase(),
        value,
      ]),
    );
    const name = attributes.get("name");
    if (name === undefined) return [];
    const question: ScriptQuestion = { label: attributes.get("label") ?? name, name };
    for (const key of ["example", "default", "oneof", "manyof"] as const) {
      const value = attributes.get(key);
      if (value !== undefined) question[key] = value;
    }
    return [question];
  });
}
