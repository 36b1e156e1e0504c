/** Rebuild: the disks and profiles of an instance give way to those of an image (v4, Actions). */

import type { FieldError } from "../http/problem.ts";
import { childHome } from "../resource/locate.ts";
import { deleteCascade } from "../resource/delete-cascade.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { addConfig } from "./config-make.ts";
import { checkImage, imageOf } from "./image-deploy.ts";
import { addDisk, imageDisks } from "./disk-make.ts";
import { defaultSwap } from "./instance-check.ts";
import type { InstanceCall } from "./instance-power.ts";
import { booting, go, refuseBusy } from "./instance-power.ts";
import type { Image, Instance } from "./shapes.ts";

const rebuilding = 3;

export function checkRebuild(call: InstanceCall): FieldError[] {
  const errors = checkImage(call);
  const image = imageOf(call);
  if (image && image.size + defaultSwap > call.row.value.specs.disk)
    errors.push({ reason: "The instance has too little space for the image", field: "image" });
  return errors;
}

export function rebuild(call: InstanceCall): Row<Instance> {
  const { store, row, at, body } = call;
  refuseBusy(call);
  wipe(store, row);
  const image = imageOf(call) as Image;
  const disks = imageDisks(image, row.value.specs.disk, defaultSwap).map(
    (disk) => addDisk(store, row.value.id, disk, at).value,
  );
  const config = addConfig(store, row.value, disks, at);
  row.hidden = { ...row.hidden, config: config.value.id };
  const off = { status: "offline", durationSeconds: 0 };
  const set = { image: image.id };
  go(call, [
    { status: "rebuilding", durationSeconds: rebuilding, set },
    ...(body["booted"] === false ? [off] : booting),
  ]);
  return row;
}

/** Takes every disk and profile of an instance away. */
export function wipe(store: Store, { id }: Row<Instance>): void {
  for (const name of ["disk", "config"] as const) {
    for (const below of store.table(name).inHome(childHome("instance", id)))
      deleteCascade(store, name, below);
  }
}
