/** What the calls that put an image on a disk have in common: instance create and disk create. */

import type { FieldError } from "../http/problem.ts";
import type { Call } from "../resource/declaration.ts";
import type { Field } from "../rules/field.ts";
import { publicHome } from "../store/table.ts";
import type { Row } from "../store/table.ts";
import type { Image, Script, ScriptQuestion } from "./shapes.ts";

export const rootPass: Field = { type: "string", min: 7, max: 128 };

/** The image that the body names, where the caller may use it. */
export function imageOf({ store, caller, body }: Call): Image | undefined {
  return seen(store.table("image").get(body["image"]), caller.account);
}

/** The faults of `image`, `root_pass`, `stackscript_id` and `stackscript_data` taken together. */
export function checkImage(call: Call): FieldError[] {
  const { body } = call;
  const image = imageOf(call);
  const errors: FieldError[] = [];
  if (typeof body["image"] === "string") {
    if (!image) errors.push({ reason: "image is not valid", field: "image" });
    errors.push(...checkPassword(body["root_pass"]));
  }
  errors.push(...checkUsers(call));
  if (body["stackscript_id"] !== undefined) errors.push(...checkScript(call, image));
  return errors;
}

/** The keys of these users are put on the disk, so they must be the account's. */
function checkUsers({ store, caller, body }: Call): FieldError[] {
  const users = Array.isArray(body["authorized_users"]) ? body["authorized_users"] : [];
  const unknown = users.filter((name) => store.table("user").get(name)?.home !== caller.account);
  const field = "authorized_users";
  return unknown.map((name) => ({ reason: `${String(name)} is no user of this account`, field }));
}

function checkPassword(password: unknown): FieldError[] {
  if (password === undefined) return [{ reason: "root_pass is required with image", field: "root_pass" }];
  return checkStrength(password, "root_pass");
}

/** A password of one or two letters over and over is the plainest of weak ones. */
export function checkStrength(password: unknown, field: string): FieldError[] {
  if (typeof password !== "string" || new Set(password).size >= 4) return [];
  return [{ reason: "Password does not meet strength requirement", field }];
}

function checkScript(call: Call, image: Image | undefined): FieldError[] {
  const { store, caller, body } = call;
  const script = seen(store.table("script").get(body["stackscript_id"]), caller.account);
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

function checkAnswers(script: Script, data: unknown): FieldError[] {
  const answers = (data !== null && typeof data === "object" ? data : {}) as Record<string, unknown>;
  return script.user_defined_fields.flatMap((question) => {
    const answer = Object.hasOwn(answers, question.name) ? answers[question.name] : undefined;
    const reason = answerError(question, answer);
    return reason === undefined ? [] : [{ reason, field: "stackscript_data" }];
  });
}

function answerError(
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
  return row && (row.home === publicHome || row.home === account) ? row.value : undefined;
}
