/** Mistakes that a pack may have. Each is one edit of one file. */
import type { REQUESTS } from "./requests.ts";

/** A mistake, the requests that exercise it, and the field in which it shows. */
export interface Fault {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly requests: keyof typeof REQUESTS;
  readonly field: string;
}

const fault = (
  name: string,
  file: string,
  [find, replace]: readonly [find: string, replace: string],
  requests: keyof typeof REQUESTS,
  field: string,
): Fault => ({ name, file, find, replace, requests, field });

/** A whole field of a resource file, as it is and as it should not be. */
const edit = (find: string, replace: string) => [find, replace] as const;

/** Mistakes in fields that have the same value each time. */
export const FAULTS: readonly Fault[] = [
  fault(
    "wrong word: running",
    "pack.yaml",
    edit("read: { rebuilding: provisioning,", "read: { running: up, rebuilding: provisioning,"),
    "instances",
    "vms.status",
  ),
  fault(
    "wrong word: disk status",
    "pack.yaml",
    edit("read: { ready: ok, not ready: creating }", "read: { ready: ready, not ready: creating }"),
    "disks",
    "disks.status",
  ),
  fault(
    "wrong word: record type",
    "pack.yaml",
    edit("same: [A, AAAA, NS, MX, CNAME, TXT, SRV]", "same: [A, AAAA, NS, MX, CNAME, TXT]"),
    "records",
    "records.type",
  ),
  fault(
    "wrong word: event action",
    "pack.yaml",
    edit("vm_clone: vm_clone", "vm_clone: vm_copy"),
    "events",
    "events.action",
  ),
  fault(
    "wrong word: id of a region",
    "pack.yaml",
    edit("us-central: dallas", "us-central: austin"),
    "datacenters",
    "datacenters",
  ),
  fault(
    "wrong word: backup type",
    "pack.yaml",
    edit("read: { automatic: auto }", "read: { automatic: automatic, auto: automatic }\n    # "),
    "backups",
    "daily.type",
  ),
  fault(
    "null for empty: group",
    "instance.yaml",
    edit(
      'group:          { upstream: group, default: "", filter: true }',
      "group:          { upstream: group, read: '$value = \"\" ? null : $value', filter: true }",
    ),
    "instances",
    "vms.group",
  ),
  fault(
    "null for empty: name",
    "record.yaml",
    edit(
      'name:     { upstream: name, default: "", write',
      "name:     { upstream: name, read: '$value = \"\" ? null : $value', write",
    ),
    "records",
    "records.name",
  ),
  fault(
    "null for 0: port",
    "record.yaml",
    edit(
      "port:     { upstream: port, default: 0 }",
      "port:     { upstream: port, read: '$value = 0 ? null : $value' }",
    ),
    "records",
    "records.port",
  ),
  fault(
    "empty for null: service",
    "record.yaml",
    edit("service:  service", 'service:  { upstream: service, default: "" }'),
    "records",
    "records.service",
  ),
  fault(
    "lost field: hypervisor",
    "instance.yaml",
    edit("  hypervisor:     hypervisor\n", ""),
    "instances",
    "vms.hypervisor",
  ),
  fault(
    "lost field: subnet mask",
    "ipv4.yaml",
    edit("  subnet_mask: subnet_mask\n", ""),
    "ipv4",
    "ipv4s.subnet_mask",
  ),
  fault(
    "lost field: nested",
    "backup.yaml",
    edit('"label": label, "size": size', '"label": label'),
    "backups",
    "daily.disks.size",
  ),
  fault(
    "added field",
    "disk.yaml",
    edit("  id:         id\n", "  id:         id\n  bytes:      size\n"),
    "disks",
    "disks.bytes",
  ),
  fault(
    "order: by another field",
    "instance.yaml",
    edit(
      "label:          { upstream: label, filter: true }",
      "label:          { upstream: label, filter: group }",
    ),
    "orderedInstances",
    "vms",
  ),
  fault(
    "order: by another field, small list",
    "token.yaml",
    edit("label:   { upstream: label, filter: true }", "label:   { upstream: label, filter: created }"),
    "orderedTokens",
    "tokens",
  ),
  fault(
    "off by one: number of a backup",
    "backups.yaml",
    edit("^(>finished)[[1..2]]]", "^(>finished)[[0..1]]]"),
    "backups",
    "weekly",
  ),
  fault(
    "off by one: page size",
    "pack.yaml",
    edit(
      "pagination: { page: { parameter: page }, size: 25 }",
      "pagination: { page: { parameter: page }, size: 26 }",
    ),
    "instances",
    "vms",
  ),
  fault(
    "off by one: vcpus",
    "type.yaml",
    edit(
      "vcpus:         { upstream: vcpus, default: 0 }",
      "vcpus:         { upstream: vcpus, read: '$value + 1', default: 0 }",
    ),
    "types",
    "types.vcpus",
  ),
  fault(
    "off by one: id",
    "disk.yaml",
    edit("  id:         id\n", "  id:         { upstream: id, read: '$value + 1' }\n"),
    "disks",
    "disks",
  ),
  fault(
    "off by one: size",
    "disk.yaml",
    edit(
      "size:       { upstream: size, filter: true }",
      "size:       { upstream: size, read: '$value - 1', filter: true }",
    ),
    "disks",
    "disks.size",
  ),
  fault(
    "type: prefix",
    "ipv4.yaml",
    edit("prefix:      { upstream: prefix, read: '$string($value)' }", "prefix:      prefix"),
    "ipv4",
    "ipv4s.prefix",
  ),
  fault(
    "type: id as text",
    "zone.yaml",
    edit("id:            id", "id:            { upstream: id, read: '$string($value)' }"),
    "zones",
    "dnszones.id",
  ),
  fault("type: object for array", "instance.yaml", edit(", as_array: true }", " }"), "instances", "vms.type"),
  fault(
    "type: number for boolean",
    "kernel.yaml",
    edit(
      "kvm:         { upstream: kvm, default: false }",
      "kvm:         { upstream: kvm, read: '$value ? 1 : 0' }",
    ),
    "kernels",
    "kernels.kvm",
  ),
  fault(
    "type: text for boolean",
    "profile.yaml",
    edit(
      "two_factor_auth:      two_factor_auth",
      "two_factor_auth:      { upstream: two_factor_auth, read: '$string($value)' }",
    ),
    "profile",
    "two_factor_auth",
  ),
  fault(
    "rounding: cents",
    "pack.yaml",
    edit("$cents := $floor($round($value * 100, 4))", "$cents := $floor($round($value * 10, 4)) * 10"),
    "types",
    "types.backups_price",
  ),
  fault(
    "rounding: memory",
    "type.yaml",
    edit(
      "ram:           { upstream: memory, default: 0 }",
      "ram:           { upstream: memory, read: '$round($value / 1000) * 1000', default: 0 }",
    ),
    "types",
    "types.ram",
  ),
  fault(
    "unit: disk in GB",
    "type.yaml",
    edit(
      "disk:          { upstream: disk, default: 0 }",
      "disk:          { upstream: disk, read: '$value / 1024', default: 0 }",
    ),
    "types",
    "types.disk",
  ),
  fault(
    "time zone: created",
    "instance.yaml",
    edit(
      "created:        { upstream: created, format: date-time }",
      "created:        { upstream: created, read: '$fromMillis($toMillis($value & \"Z\") + 7200000)', format: date-time }",
    ),
    "instances",
    "vms.created",
  ),
  fault(
    "time zone: half an hour",
    "disk.yaml",
    edit(
      "created:    { upstream: created, format: date-time }",
      "created:    { upstream: created, read: '$fromMillis($toMillis($value & \"Z\") - 1800000)', format: date-time }",
    ),
    "disks",
    "disks.created",
  ),
  fault(
    "zone suffix",
    "ticket.yaml",
    edit(
      "opened:          { upstream: opened, format: date-time, filter: true }",
      "opened:          { upstream: opened, read: '$value & \"Z\"', filter: true }",
    ),
    "tickets",
    "tickets.opened",
  ),
  fault(
    "precision of a time",
    "token.yaml",
    edit(
      "created: { upstream: created, format: date-time, filter: true }",
      "created: { upstream: created, read: '$value & \".000\"', filter: true }",
    ),
    "tokens",
    "tokens.created",
  ),
  fault(
    "letter case: class",
    "type.yaml",
    edit(
      'class:         { upstream: class, default: "" }',
      "class:         { upstream: class, read: '$uppercase($value)', default: \"\" }",
    ),
    "types",
    "types.class",
  ),
  fault(
    "letter case: label",
    "kernel.yaml",
    edit("label:       label", "label:       { upstream: label, read: '$uppercase($value)' }"),
    "kernels",
    "kernels.label",
  ),
  fault(
    "letter case: country",
    "settings.yaml",
    edit(
      'country:        { upstream: country, default: "" }',
      "country:        { upstream: country, read: '$lowercase($value)', default: \"\" }",
    ),
    "settings",
    "country",
  ),
  fault(
    "error: another member",
    "pack.yaml",
    edit(
      "    error: { errors: [{ field: $field, reason: $message }] }\n  rate_limit_headers: { limit: X-RateLimit-Limit, remaining: X-RateLimit-Remaining, reset: X-RateLimit-Reset }\n  upstream_header",
      "    error: { errors: [{ field: $field, message: $message }] }\n  rate_limit_headers: { limit: X-RateLimit-Limit, remaining: X-RateLimit-Remaining, reset: X-RateLimit-Reset }\n  upstream_header",
    ),
    "missing",
    "errors.reason",
  ),
  fault(
    "status of what is missing",
    "pack.yaml",
    edit("404: 404, 429: 420", "404: 400, 429: 420"),
    "missing",
    "status",
  ),
  fault(
    "status: a filter is accepted",
    "instance.yaml",
    edit("  hypervisor:     hypervisor\n", "  hypervisor:     { upstream: hypervisor, filter: true }\n"),
    "wrongFilter",
    "status",
  ),
  fault(
    "wrong member of v4",
    "balancer.yaml",
    edit("hostname:             hostname", "hostname:             { upstream: label }"),
    "balancers",
    "nodebalancers.hostname",
  ),
];

/** Mistakes in fields that have another value each time. */
export const VOLATILE_FAULTS: readonly Fault[] = [
  fault(
    "time zone",
    "instance.yaml",
    edit(
      "updated:        { upstream: updated, format: date-time }",
      "updated:        { upstream: updated, read: '$fromMillis($toMillis($value & \"Z\") + 3600000)', format: date-time }",
    ),
    "instances",
    "vms.updated",
  ),
  fault(
    "zone suffix",
    "instance.yaml",
    edit(
      "updated:        { upstream: updated, format: date-time }",
      "updated:        { upstream: updated, read: '$value & \"Z\"' }",
    ),
    "instances",
    "vms.updated",
  ),
  fault(
    "null",
    "instance.yaml",
    edit("updated:        { upstream: updated, format: date-time }", "updated:        { const: null }"),
    "instances",
    "vms.updated",
  ),
  fault(
    "unit: MB for GB",
    "instance.yaml",
    edit("used / 1073741824)", "used / 1048576)"),
    "instance",
    "total_transfer",
  ),
  fault(
    "letter case",
    "profile.yaml",
    edit(
      '{ upstream: referrals.code, default: "" }',
      "{ upstream: referrals.code, read: '$uppercase($value)' }",
    ),
    "profile",
    "referrals.code",
  ),
  fault(
    "rounding",
    "settings.yaml",
    edit(
      "balance:        { upstream: balance, default: 0 }",
      "balance:        { upstream: balance, read: '$round($value)', default: 0 }",
    ),
    "settings",
    "balance",
  ),
  fault(
    "type",
    "stackscript.yaml",
    edit(
      "deployments_active: { upstream: deployments_active, default: 0 }",
      "deployments_active: { upstream: deployments_active, read: '$string($value)' }",
    ),
    "scripts",
    "stackscripts.deployments_active",
  ),
  fault(
    "share for per cent",
    "event.yaml",
    edit("$value != null ? $value\n", "$value != null ? $value / 1000\n"),
    "events",
    "events.percent_complete",
  ),
  fault(
    "date without a time",
    "ticket.yaml",
    edit(
      "updated:         { upstream: updated, format: date-time, filter: true }",
      "updated:         { upstream: updated, read: '$substring($value, 0, 10)', filter: true }",
    ),
    "tickets",
    "tickets.updated",
  ),
  fault(
    "off by one",
    "balancer.yaml",
    edit(
      "client_conn_throttle: { upstream: client_conn_throttle, default: 0 }",
      "client_conn_throttle: { upstream: client_conn_throttle, read: '$value + 1' }",
    ),
    "balancers",
    "nodebalancers.client_conn_throttle",
  ),
];
