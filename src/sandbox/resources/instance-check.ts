/** What must be right about a new instance beyond each member by itself (v4, POST /vm/instances). */

import type { FieldError } from "../http/problem.ts";
import { parentId } from "../resource/locate.ts";
import type { Call } from "../resource/declaration.ts";
import { publicHome } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { checkImage, imageOf } from "./image-deploy.ts";
import { checkInterfaces } from "./interfaces.ts";
import type { Backup, Plan } from "./shapes.ts";

/** MB of swap that an instance made from an image gets where the request doesn't say. */
export const defaultSwap = 512;

/** An unknown id in the body is 400 naming its member, never 404 (ruling). */
export function checkInstance(call: Call): FieldError[] {
  const { store, body } = call;
  const errors: FieldError[] = [];
  const plan = planOf(call);
  if (body["region"] !== undefined && !store.table("region").get(body["region"])) {
    errors.push({ reason: "region is not valid", field: "region" });
  }
  if (body["type"] !== undefined && !plan) errors.push({ reason: "type is not valid", field: "type" });
  errors.push(...checkImage(call), ...checkSpace(call, plan));
  if (body["backup_id"] !== undefined) errors.push(...checkBackup(call, plan));
  errors.push(...checkInterfaces(body["interfaces"]), ...checkTags(call));
  return errors;
}

/** Tags are for unrestricted users (v4, Grants). */
function checkTags({ caller, body }: Call): FieldError[] {
  const some = Array.isArray(body["tags"]) && body["tags"].length > 0;
  return some && caller.grants ? [{ reason: "Only unrestricted users may set tags", field: "tags" }] : [];
}

export function planOf({ store, body }: Call): Plan | undefined {
  return currentPlan(store, body["type"]);
}

/** Types that can no longer be had are known, but only instances from before have them. */
export function currentPlan(store: Store, id: unknown): Plan | undefined {
  const row = store.table("plan").get(id);
  return row?.home === publicHome ? row.value : undefined;
}

/** The backup that the body names, where it is the caller's. */
export function backupOf({ store, caller, body }: Call): Backup | undefined {
  const row = store.table("backup").get(body["backup_id"]);
  const source = row && store.table("instance").get(parentId(row.home));
  return source?.home === caller.account ? row?.value : undefined;
}

function checkSpace(call: Call, plan: Plan | undefined): FieldError[] {
  const image = imageOf(call);
  const swap = call.body["swap_size"] ?? defaultSwap;
  if (!image || !plan || typeof swap !== "number" || plan.disk - swap >= image.size) return [];
  return swap > defaultSwap
    ? [{ reason: "swap_size leaves too little space for the image", field: "swap_size" }]
    : [{ reason: "The type has too little space for the image", field: "type" }];
}

function checkBackup(call: Call, plan: Plan | undefined): FieldError[] {
  const { body } = call;
  const field = "backup_id";
  const backup = backupOf(call);
  if (typeof body["image"] === "string") return [{ reason: "backup_id can't be used with image", field }];
  if (!backup) return [{ reason: "backup_id is not valid", field }];
  if (backup.status !== "successful") return [{ reason: "The backup was not successful", field }];
  if (backup.region !== body["region"]) return [{ reason: "The backup is in another region", field }];
  const size = backup.disks.reduce((sum, disk) => sum + disk.size, 0);
  if (plan && size > plan.disk) return [{ reason: `The backup needs ${size} MB of disk`, field }];
  return [];
}
