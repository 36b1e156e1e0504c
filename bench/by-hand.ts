/** The pack's mapping of an instance as one would write it by hand: what the pack's functions are compared with. */

type Json = Record<string, unknown>;

/** Alpha objects of a catalog by v4 id. */
type Known = ReadonlyMap<string, unknown>;

export interface KnownCatalogs {
  readonly datacenter: Known;
  readonly distribution: Known;
  readonly type: Known;
}

interface Instance extends Json {
  readonly status: string;
  readonly region: string;
  readonly image: string | null;
  readonly type: string | null;
  readonly ipv6: string | null;
  readonly alerts: Readonly<Record<"cpu" | "io" | "network_in" | "network_out" | "transfer_quota", number>>;
  readonly backups: {
    readonly enabled: boolean;
    readonly schedule: { readonly day: string | null; readonly window: string | null };
  };
}

interface List {
  readonly data: readonly Instance[];
  readonly page: number;
  readonly pages: number;
  readonly results: number;
}

const STATUSES: Readonly<Record<string, string>> = {
  running: "running",
  offline: "offline",
  booting: "booting",
  rebooting: "rebooting",
  shutting_down: "shutting_down",
  provisioning: "provisioning",
  deleting: "deleting",
  migrating: "migrating",
  rebuilding: "provisioning",
  restoring: "provisioning",
  cloning: "migrating",
  resizing: "migrating",
};

const alert = (value: number, otherwise: number) => ({
  enabled: value > 0,
  threshold: value > 0 ? value : otherwise,
});

const dateTime = (value: unknown): unknown =>
  typeof value === "string" && value.length > 19 ? value.slice(0, 19) : value;

/** v4 may keep a schedule while backups are off. */
const schedule = (enabled: boolean, value: string | null): string | null =>
  !enabled || value === "Scheduling" ? null : value;

function instance(v4: Instance, { datacenter, distribution, type }: KnownCatalogs): Json {
  const { alerts, backups } = v4;
  return {
    id: v4["id"],
    label: v4["label"],
    group: v4["group"] ?? "",
    status: STATUSES[v4.status] ?? "offline",
    created: dateTime(v4["created"]),
    updated: dateTime(v4["updated"]),
    datacenter: datacenter.get(v4.region),
    distribution: v4.image === null || v4.image.startsWith("private/") ? null : distribution.get(v4.image),
    type: v4.type === null ? [] : [type.get(v4.type)],
    ipv4: v4["ipv4"] ?? [],
    ipv6: v4.ipv6?.replace("/128", "/64") ?? "",
    hypervisor: v4["hypervisor"],
    total_transfer: 0,
    alerts: {
      cpu: alert(alerts.cpu, 90),
      io: alert(alerts.io, 10000),
      transfer_in: alert(alerts.network_in, 10),
      transfer_out: alert(alerts.network_out, 10),
      transfer_quota: alert(alerts.transfer_quota, 80),
    },
    backups: {
      enabled: backups.enabled,
      schedule: {
        day: schedule(backups.enabled, backups.schedule.day),
        window: schedule(backups.enabled, backups.schedule.window),
      },
      last_backup: null,
      snapshot: null,
    },
  };
}

/** From v4's object to alpha's, as texts. */
export const objectByHand = (text: string, catalogs: KnownCatalogs): string =>
  JSON.stringify(instance(JSON.parse(text) as Instance, catalogs));

/** From v4's list to alpha's, as texts. */
export function listByHand(text: string, catalogs: KnownCatalogs): string {
  const { data, page, pages, results } = JSON.parse(text) as List;
  const vms = data.map((row) => instance(row, catalogs));
  return JSON.stringify({ vms, page, total_pages: Math.max(1, pages), total_results: results });
}
