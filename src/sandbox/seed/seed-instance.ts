/** One instance out of seed data: with the sizes of its type, addresses, and disks where it has an image. */

import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { addConfig } from "../resources/config-make.ts";
import { addDisk, imageDisks } from "../resources/disk-make.ts";
import { planBackup } from "../resources/backup-schedule.ts";
import { keepAddresses } from "../resources/addresses.ts";
import { newInstance } from "../resources/instance-make.ts";
import type { Disk, Instance, Value } from "../resources/shapes.ts";
import { SeedError } from "./seed-fault.ts";

/** @throws {Error} where region, type or image are not those of the catalogs. */
export function seedInstanceFromData(store: Store, home: string, given: Value, at: number): Row<Instance> {
  const { type = "g6-standard-1", region = "us-east", image: imageId = null, hidden, ...said } = given;
  const plan = store.table("plan").get(type)?.value;
  const image = imageId === null ? undefined : store.table("image").get(imageId)?.value;
  if (!plan || !store.table("region").get(region) || (imageId !== null && !image))
    throw new SeedError(`${String(said["label"])} has no known type, region and image`, "instances");
  const table = store.table("instance");
  const id = (given["id"] as number | undefined) ?? table.nextId();
  const defaults = { group: "", tags: [], backups: false, privateIp: false };
  const made = newInstance(
    store,
    id,
    { plan, region: String(region), image: image?.id ?? null, ...defaults },
    at,
  );
  const status = image ? "running" : "offline";
  const value: Instance = { ...made, status, ...structuredClone(said) };
  const row = table.add(home, id, value, hidden as object);
  keepAddresses(store, row);
  planBackup(store, row, at);
  if (!image) return row;
  const disks: Disk[] = imageDisks(image, plan.disk, 512).map((disk) => addDisk(store, id, disk, at).value);
  const config = addConfig(store, value, disks, at);
  row.hidden = { ...row.hidden, config: config.value.id };
  return row;
}
