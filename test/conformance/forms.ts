/** Alpha's objects: their fields, with the types of the values. */
import { expect } from "@jest/globals";

/** `2017-01-01T00:00:00`, as both dialects write it. */
export const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
export const text = expect.any(String);
export const number = expect.any(Number);
export const flag = expect.any(Boolean);

export const datacenter = { id: text, label: text, country: text };
export const distribution = {
  id: text,
  created: dateTime,
  label: text,
  minimum_storage_size: number,
  recommended: flag,
  vendor: text,
  x64: flag,
};
/** A Type, of which an instance shows one. */
export const serviceType = {
  id: text,
  label: text,
  class: text,
  service_type: text,
  ram: number,
  disk: number,
  storage: number,
  transfer: number,
  vcpus: number,
  mbits_out: number,
  hourly_price: number,
  monthly_price: number,
  backups_price: number,
};

const alert = { enabled: flag, threshold: number };

/** Any instance, without fields that alpha does not have. */
export const instance = {
  id: number,
  label: text,
  group: text,
  status: text,
  created: dateTime,
  updated: dateTime,
  datacenter,
  distribution,
  type: [serviceType],
  ipv4: expect.arrayContaining([text]),
  ipv6: text,
  hypervisor: expect.stringMatching(/^(kvm|xen)$/),
  total_transfer: number,
  alerts: { cpu: alert, io: alert, transfer_in: alert, transfer_out: alert, transfer_quota: alert },
  backups: expect.anything(),
};
