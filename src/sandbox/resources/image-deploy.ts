/** What the calls that put an image on a disk have in common: instance create and disk create. */

import type { Fault } from "../http/problem.ts";
import type { Call } from "../resource/declaration.ts";
import type { Field } from "../rules/field.ts";
import { everyone } from "../store/table.ts";
import type { Row } from "../store/table.ts";
import type { Image, Script, ScriptQuestion } from "./shapes.ts";

export const rootPass: Field = { type: "string", min: 7, max: 128 };

/** The image that the body names, where the caller may use it. */
export function imageOf({ world, caller, body }: Call): Image | undefined {
  return seen(world.table("image").get(body["image"]), caller.account);
}

/** The faults of `image`, `root_pass`, `stackscript_id` and `stackscript_data` taken together. */
export function checkImage(call: Call): Fault[] {
  const { body } = call;
  const image = imageOf(call);
  const faults: Fault[] = [];
  if (typeof body["image"] === "string") {
    if (!image) faults.push({ reason: "image is not valid", field: "image" });
    faults.push(...checkPassword(body["root_pass"]));
  }
  faults.push(...checkUsers(call));
  if (body["stackscript_id"] !== undefined) faults.push(...checkScript(call, image));
  return faults;
}

/** The keys of these users are put on the disk, so they must be the account's. */
function checkUsers({ world, caller, body }: Call): Fault[] {
  const users = Array.isArray(body["authorized_users"]) ? body["authorized_users"] : [];
  const unknown = users.filter((name) => world.table("user").get(name)?.home !== caller.account);
  const field = "authorized_users";
  return unknown.map((name) => ({ reason: `${String(name)} is no user of this account`, field }));
}

function checkPassword(password: unknown): Fault[] {
  if (password === undefined) return [{ reason: "root_pass is required with image", field: "root_pass" }];
  return checkStrength(password, "root_pass");
}

/** A password of one or two letters over and over is the plainest of weak ones. */
export function checkStrength(password: unknown, field: string): Fault[] {
  if (typeof password !== "string" || new Set(password).size >= 4) return [];
  return [{ reason: "Password does not meet strength requirement", field }];
}

function checkScript(call: Call, image: Image | undefined): Fault[] {
  const { world, caller, body } = call;
  const script = seen(world.table("script").get(body["stackscript_id"]), caller.account);
  const field = "stackscript_id";
  if (!script) return [{ reason: "stackscript_id is not valid", field }];
  if (body["backup_id"] !== undefined)
    return [{ reason: "stackscript_id can't be used with backup_id", field }];
  if (typeof body["image"] !== "string") return [{ reason: "stackscript_id needs an image", field }];
  if (image && !script.images.includes(image.id)) {
    return [{ reason: `The script can't be deployed on ${image.id}`, field }];
  }
  return checkAnswers(script, body["stackscript_data"]);
}

function checkAnswers(script: Script, data: unknown): Fault[] {
  const answers = (data !== null && typeof data === "object" ? data : {}) as Record<string, unknown>;
  return script.user_defined_fields.flatMap((question) => {
    const answer = Object.hasOwn(answers, question.name) ? answers[question.name] : undefined;
    const reason = answerFault(question, answer);
    return reason === undefined ? [] : [{ reason, field: "stackscript_data" }];
  });
}

function answerFault(
  { name, default: otherwise, oneof }: ScriptQuestion,
  answer: unknown,
): string | undefined {
  if (answer === undefined || answer === "") {
    return otherwise === undefined ? `${name} must be answered` : undefined;
  }
  const choices = oneof?.split(",");
  return choices && !choices.includes(answer as string) ? `${name} must be one of ${oneof}` : undefined;
}

function seen<T extends object>(row: Row<T> | undefined, account: string): T | undefined {
  return row && (row.home === everyone || row.home === account) ? row.value : undefined;
}
