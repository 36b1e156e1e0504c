/** The transfer that all instances of an account have together, in GB. */

import type { ActionCall } from "../resource/declaration.ts";
import type { AccountValue } from "./shapes.ts";

/** Object storage adds a terabyte (document 1, Limits). */
const ofObjectStorage = 1000;

export function accountTransfer({ store, caller }: ActionCall<AccountValue>): object {
  const storage = store.table("settings").get(caller.account)?.value["object_storage"] === "active";
  let quota = storage ? ofObjectStorage : 0;
  for (const { value } of store.table("instance").inHome(caller.account)) quota += value.specs.transfer;
  return { billable: 0, quota, used: Math.floor(quota / 150) };
}
