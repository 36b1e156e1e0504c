/** The old API in terms of v4, written by hand. */

/** Regions with their old names. The first seven are in the list, in this order. */
const DATACENTERS = [
  ["us-east", "newark", "Newark, NJ", "us"],
  ["us-central", "dallas", "Dallas, TX", "us"],
  ["us-west", "fremont", "Fremont, CA", "us"],
  ["us-southeast", "atlanta", "Atlanta, GA", "us"],
  ["eu-west", "london", "London, England, UK", "uk"],
  ["ap-south", "singapore", "Singapore, SG", "sg"],
  ["eu-central", "frankfurt", "Frankfurt, DE", "de"],
  ["ap-northeast", "ap-northeast", "Tokyo 2, JP", "jp"],
  ["ca-central", "ca-central", "Toronto, ON", "ca"],
  ["ap-west", "ap-west", "Mumbai, IN", "in"],
  ["ap-southeast", "ap-southeast", "Sydney, AU", "au"],
].map(([region, id, label, country]) => ({ region, object: { id, label, country } }));
const LISTED = DATACENTERS.slice(0, 7);

export const datacenters = LISTED.map(({ object }) => object);
export const regionOf = (id) => LISTED.find(({ object }) => object.id === id)?.region;
const datacenterOf = (region) => DATACENTERS.find((each) => each.region === region)?.object;

export const distribution = ({ id, label, created, size, deprecated, vendor }) => ({
  id,
  label,
  created,
  minimum_storage_size: size,
  recommended: !deprecated,
  vendor,
  x64: !/32-?bit|i386/i.test(`${id} ${label}`),
});

/** A part of a cent is left out, and nothing that costs something is free. */
const cents = (price) => (price > 0 ? Math.max(1, Math.floor(Number((price * 100).toFixed(4)))) : 0);

export const type = ({ id, label, memory, disk, transfer, vcpus, network_out, price, addons, ...v4 }) => ({
  id,
  label: label.replace(/(\d+) ?GB/, (_, size) => String(size * 1024)),
  class: v4.class,
  service_type: "vm",
  ram: memory,
  disk,
  storage: disk,
  transfer,
  vcpus,
  mbits_out: network_out,
  hourly_price: cents(price.hourly),
  monthly_price: cents(price.monthly),
  backups_price: cents(addons.backups.price.monthly),
});

const STATUSES = {
  stopped: "offline",
  rebuilding: "provisioning",
  restoring: "provisioning",
  cloning: "migrating",
  resizing: "migrating",
};

const alert = (value, otherwise) => ({ enabled: value > 0, threshold: value > 0 ? value : otherwise });

/** v4 has no day yet while it schedules backups, and keeps one while they are off. */
const scheduled = (isOn, value) => (isOn && value !== "Scheduling" ? value : null);

const backup = (found) => {
  if (found?.status !== "successful") return null;
  const { region, ...same } = found;
  return { ...same, datacenter: datacenterOf(region) };
};

/** @param details the transfer and the backups of an instance, which lists don't have */
export function instance(v4, { images, types }, { transfer, backups } = {}) {
  const { region, image, alerts, backups: settings } = v4;
  const last = backups?.automatic.findLast(({ status }) => status === "successful");
  return {
    id: v4.id,
    label: v4.label,
    group: v4.group,
    status: STATUSES[v4.status] ?? v4.status,
    created: v4.created,
    updated: v4.updated,
    datacenter: datacenterOf(region),
    distribution: images.get(image) ?? null,
    type: [types.get(v4.type)],
    ipv4: v4.ipv4,
    ipv6: v4.ipv6?.replace("/128", "/64") ?? "",
    hypervisor: v4.hypervisor,
    total_transfer: Math.floor((transfer?.used ?? 0) / 2 ** 30),
    alerts: {
      cpu: alert(alerts.cpu, 90),
      io: alert(alerts.io, 10_000),
      transfer_in: alert(alerts.network_in, 10),
      transfer_out: alert(alerts.network_out, 10),
      transfer_quota: alert(alerts.transfer_quota, 80),
    },
    backups: {
      enabled: settings.enabled,
      schedule: {
        day: scheduled(settings.enabled, settings.schedule.day),
        window: scheduled(settings.enabled, settings.schedule.window),
      },
      last_backup: backup(last),
      snapshot: backup(backups?.snapshot.current),
    },
  };
}

/** Fields of filters and errors, with their names in v4. */
const FIELDS = {
  id: "id",
  label: "label",
  group: "group",
  ipv4: "ipv4",
  datacenter: "region",
  distribution: "image",
};
export const oldFieldOf = (field) => Object.keys(FIELDS).find((old) => FIELDS[old] === field) ?? field;

/** A filter in v4's words. @throws {RangeError} for a field that has no filter */
export function filter(given) {
  const rename = ([name, value]) => {
    if (name === "+and" || name === "+or") return [name, value.map(filter)];
    if (name === "+order") return [name, value];
    const isOrder = name === "+order-by";
    const field = FIELDS[isOrder ? value : name];
    if (field === undefined)
      throw new RangeError(isOrder ? `${value} cannot be ordered by.` : `${name} cannot be filtered by.`);
    if (isOrder) return ["+order_by", field];
    if (name === "datacenter" && regionOf(value) === undefined)
      throw new RangeError("datacenter has no such value.");
    return [field, name === "datacenter" ? regionOf(value) : value];
  };
  return Object.fromEntries(Object.entries(given).map(rename));
}
