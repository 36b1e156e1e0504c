/** Network interfaces of a configuration profile: the internet or a VLAN (v4, Configuration profiles). */

import type { FieldError } from "../http/problem.ts";
import type { Field } from "../rules/field.ts";

/** `ipam_address` may be empty or left out, also for a VLAN (document 1, facts given by release notes). */
export const interfaces: Field = {
  type: "objects",
  max: 3,
  members: {
    purpose: { type: "string", values: ["public", "vlan"], required: true },
    label: { type: "string", nullable: true, max: 64, pattern: "[a-zA-Z0-9-]*" },
    ipam_address: { type: "string", nullable: true, pattern: "(?:[0-9a-fA-F.:]+/\\d{1,3})?" },
  },
};

interface Interface {
  readonly purpose?: unknown;
  readonly label?: unknown;
  readonly ipam_address?: unknown;
}

/** A VLAN is named, the internet is not, and there is one way to it at most. */
export function checkInterfaces(value: unknown): FieldError[] {
  const given = interfacesOf(value);
  const errors = given.flatMap(({ purpose, label }, index): FieldError[] => {
    const field = `interfaces[${index}].label`;
    if (purpose === "vlan" && !label) return [{ reason: "A VLAN needs a label", field }];
    return purpose === "public" && label ? [{ reason: "label is for VLANs", field }] : [];
  });
  const open = given.filter(({ purpose }) => purpose === "public");
  if (open.length > 1) errors.push({ reason: "One interface may be public", field: "interfaces" });
  return errors;
}

/** As they are kept: every member there. */
export function keptInterfaces(value: unknown): object[] {
  return interfacesOf(value).map(({ purpose, label, ipam_address: address }) => ({
    purpose,
    label: label ?? "",
    ipam_address: address ?? "",
  }));
}

function interfacesOf(value: unknown): readonly Interface[] {
  return Array.isArray(value) ? value.filter((each) => each !== null && typeof each === "object") : [];
}
