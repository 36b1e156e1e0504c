/** The profile that an instance made from an image or a backup gets: its disks in order. */

import { dateTime } from "../clock.ts";
import { childHome } from "../resource/locate.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import type { Config, Disk, Instance } from "./shapes.ts";

export const slots = ["sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh"];

export function addConfig(
  store: Store,
  of: Instance,
  disks: readonly Disk[],
  at: number,
  interfaces: object[] = [],
): Row<Config> {
  const id = store.table("config").nextId();
  const time = dateTime(at);
  const device = (disk: Disk | undefined) => (disk ? { disk_id: disk.id, volume_id: null } : null);
  return store.table("config").add(childHome("instance", of.id), id, {
    id,
    label: "Main profile",
    kernel: store.names.kernel,
    comments: null,
    memory_limit: 0,
    run_level: "default",
    virt_mode: "paravirt",
    root_device: "/dev/sda",
    root_device_ro: false,
    interfaces,
    helpers: {
      updatedb_disabled: true,
      distro: true,
      modules_dep: true,
      network: true,
      devtmpfs_automount: false,
    },
    devices: Object.fromEntries(slots.map((slot, index) => [slot, device(disks[index])])),
    initrd: null,
    created: time,
    updated: time,
  });
}
