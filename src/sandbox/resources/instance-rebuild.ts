/** Rebuild: the disks and profiles of an instance give way to those of an image (v4, Actions). */

import type { Fault } from "../http/problem.ts";
import { homeBelow } from "../resource/locate.ts";
import { deleteCascade } from "../resource/delete-cascade.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import { addConfig } from "./config-make.ts";
import { checkImage, imageOf } from "./image-deploy.ts";
import { addDisk, imageDisks } from "./disk-make.ts";
import { defaultSwap } from "./instance-check.ts";
import type { InstanceCall } from "./instance-power.ts";
import { booting, go, refuseBusy } from "./instance-power.ts";
import type { Image, Instance } from "./shapes.ts";

const rebuilding = 3;

export function checkRebuild(call: InstanceCall): Fault[] {
  const faults = checkImage(call);
  const image = imageOf(call);
  if (image && image.size + defaultSwap > call.row.value.specs.disk)
    faults.push({ reason: "The instance has too little space for the image", field: "image" });
  return faults;
}

export function rebuild(call: InstanceCall): Row<Instance> {
  const { world, row, at, body } = call;
  refuseBusy(call);
  wipe(world, row);
  const image = imageOf(call) as Image;
  const disks = imageDisks(image, row.value.specs.disk, defaultSwap).map(
    (disk) => addDisk(world, row.value.id, disk, at).value,
  );
  const config = addConfig(world, row.value, disks, at);
  row.hidden = { ...row.hidden, config: config.value.id };
  const off = { status: "offline", takes: 0 };
  const set = { image: image.id };
  go(call, [
    { status: "rebuilding", takes: rebuilding, set },
    ...(body["booted"] === false ? [off] : booting),
  ]);
  return row;
}

/** Takes every disk and profile of an instance away. */
export function wipe(world: World, { id }: Row<Instance>): void {
  for (const name of ["disk", "config"] as const) {
    for (const below of world.table(name).of(homeBelow("instance", id))) deleteCascade(world, name, below);
  }
}
