/** Seed data of the catalogs: regions, images, kernels, plans and scripts. */

import type { Image, Kernel, Plan, Region, Script } from "../resources/row-types.ts";

/** Capabilities of regions. Newer regions have VLANs and no legacy address pools. */
const basic = ["Vms", "NodeBalancers", "Block Storage", "Kubernetes", "Cloud Firewall"];
const newer = [...basic, "Vlans"];
const wide = [...basic, "Object Storage", "GPU Vms"];

const regionRows: readonly [id: string, country: string, capabilities: string[]][] = [
  ["ap-west", "in", newer],
  ["ca-central", "ca", newer],
  ["ap-southeast", "au", newer],
  ["us-central", "us", basic],
  ["us-west", "us", basic],
  ["us-southeast", "us", [...newer, "Object Storage"]],
  ["us-east", "us", wide],
  ["eu-west", "uk", basic],
  ["ap-south", "sg", wide],
  ["eu-central", "de", wide],
  ["ap-northeast", "jp", basic],
];

export const regions: readonly Region[] = regionRows.map(([id, country, capabilities], index) => ({
  id,
  country,
  capabilities,
  status: id === "ap-northeast" ? "outage" : "ok",
  resolvers: {
    ipv4: [5, 6, 7].map((last) => `192.0.2.${index * 20 + last}`).join(","),
    ipv6: [5, 6, 7].map((last) => `2001:db8:${index + 1}::${last}`).join(","),
  },
}));

const imageRows: readonly [
  id: string,
  label: string,
  vendor: string,
  size: number,
  created: string,
  eol: string | null,
][] = [
  ["vm/almalinux8", "AlmaLinux 8", "AlmaLinux", 1200, "2021-03-30", "2029-03-01"],
  ["vm/alpine3.12", "Alpine 3.12", "Alpine", 300, "2020-06-03", "2022-05-01"],
  ["vm/alpine3.15", "Alpine 3.15", "Alpine", 300, "2021-11-30", "2023-11-01"],
  ["vm/arch", "Arch Linux", "Arch", 2500, "2022-01-03", null],
  ["vm/centos6.8", "CentOS 6.8", "CentOS", 1024, "2016-05-31", "2020-11-30"],
  ["vm/centos7", "CentOS 7", "CentOS", 1500, "2014-07-08", "2024-06-30"],
  ["vm/centos-stream9", "CentOS Stream 9", "CentOS", 1750, "2021-12-03", "2027-05-31"],
  ["vm/debian8", "Debian 8", "Debian", 900, "2015-04-27", "2020-06-30"],
  ["vm/debian9", "Debian 9", "Debian", 1100, "2017-06-16", "2022-06-30"],
  ["vm/debian10", "Debian 10", "Debian", 1500, "2019-07-07", "2024-06-30"],
  ["vm/debian11", "Debian 11", "Debian", 1300, "2021-08-14", "2026-08-31"],
  ["vm/fedora35", "Fedora 35", "Fedora", 1700, "2021-11-02", "2022-12-07"],
  ["vm/fedora36", "Fedora 36", "Fedora", 1900, "2022-05-10", "2023-05-16"],
  ["vm/gentoo", "Gentoo", "Gentoo", 4600, "2020-03-31", null],
  ["vm/opensuse15.3", "openSUSE Leap 15.3", "openSUSE", 1400, "2021-06-02", "2022-12-31"],
  ["vm/rocky8", "Rocky Linux 8", "Rocky", 1200, "2021-07-01", "2029-05-31"],
  ["vm/slackware15.0", "Slackware 15.0", "Slackware", 10000, "2022-02-15", null],
  ["vm/ubuntu16.04lts", "Ubuntu 16.04 LTS", "Ubuntu", 2700, "2016-04-22", "2021-04-30"],
  ["vm/ubuntu18.04", "Ubuntu 18.04 LTS", "Ubuntu", 2700, "2018-04-26", "2023-04-26"],
  ["vm/ubuntu20.04", "Ubuntu 20.04 LTS", "Ubuntu", 2500, "2020-04-23", "2025-04-23"],
  ["vm/ubuntu22.04", "Ubuntu 22.04 LTS", "Ubuntu", 2500, "2022-04-21", "2027-04-21"],
];

const deprecatedImages = new Set([
  "vm/alpine3.12",
  "vm/centos6.8",
  "vm/debian8",
  "vm/debian9",
  "vm/ubuntu16.04lts",
]);

export const images: readonly Image[] = imageRows.map(([id, label, vendor, size, created, eol]) =>
  Object.assign(
    { id, label, vendor, size, deprecated: deprecatedImages.has(id), is_public: true },
    {
      created: `${created}T16:00:00`,
      updated: `${created}T16:30:00`,
      created_by: "vm",
      description: null,
      type: "manual",
      expiry: null,
      eol: eol && `${eol}T04:00:00`,
      status: "available",
    },
  ),
);

/** The private image of the main account. */
export const privateImage: Image = Object.assign(
  { id: "private/55012", label: "web base", vendor: null, size: 1600, deprecated: false, is_public: false },
  {
    created: "2022-05-03T12:00:00",
    updated: "2022-05-03T12:08:00",
    created_by: "ops-anna",
    description: "Everything that a web server of ours needs",
    type: "manual",
    expiry: null,
    eol: null,
    status: "available",
  },
);

const kernelRows: readonly [
  id: string,
  label: string,
  version: string,
  architecture: string,
  pvops: boolean,
][] = [
  ["vm/latest-32bit", "Latest 32 bit (5.17.5-i386)", "5.17.5", "i386", true],
  ["vm/latest-64bit", "Latest 64 bit (5.17.5-x86_64)", "5.17.5", "x86_64", true],
  ["vm/grub2", "GRUB 2", "2.06", "x86_64", false],
  ["vm/grub-legacy", "GRUB (Legacy)", "2.0.0", "x86_64", false],
  ["vm/direct-disk", "Direct Disk", "", "x86_64", false],
  ["vm/5.17.5-x86_64", "5.17.5-x86_64", "5.17.5", "x86_64", true],
  ["vm/5.14.17-x86", "5.14.17-x86", "5.14.17", "i386", true],
  ["vm/4.9.36-x86_64", "4.9.36-x86_64", "4.9.36", "x86_64", true],
  ["vm/3.2.1-x86", "3.2.1-x86", "3.2.1", "i386", true],
  ["vm/2.6.18.8", "Legacy 2.6.18 (2.6.18.8)", "2.6.18", "i386", false],
];

const deprecatedKernels = new Set(["vm/4.9.36-x86_64", "vm/3.2.1-x86", "vm/2.6.18.8"]);

export const kernels: readonly Kernel[] = kernelRows.map(([id, label, version, architecture, pvops], index) =>
  Object.assign(
    { id, label, version, architecture, pvops },
    {
      kvm: id !== "vm/2.6.18.8",
      xen: deprecatedKernels.has(id),
      deprecated: deprecatedKernels.has(id),
      built: `${2022 - index}-05-01T00:00:00`,
    },
  ),
);

/** Rows of plans: memory and disk in MB, transfer in GB, network in Mbit/s, price in dollars. */
const planRows: readonly [
  id: string,
  label: string,
  memory: number,
  disk: number,
  vcpus: number,
  transfer: number,
  networkOut: number,
  hourly: number,
  monthly: number,
][] = [
  ["g6-nanode-1", "Nanode 1GB", 1024, 25600, 1, 1000, 1000, 0.0075, 5],
  ["g6-standard-1", "Vm 2GB", 2048, 51200, 1, 2000, 2000, 0.015, 10],
  ["g6-standard-2", "Vm 4GB", 4096, 81920, 2, 4000, 4000, 0.03, 20],
  ["g6-standard-4", "Vm 8GB", 8192, 163840, 4, 5000, 5000, 0.06, 40],
  ["g6-standard-6", "Vm 16GB", 16384, 327680, 6, 8000, 6000, 0.12, 80],
  ["g6-standard-8", "Vm 32GB", 32768, 655360, 8, 16000, 7000, 0.24, 160],
  ["g6-dedicated-2", "Dedicated 4GB", 4096, 81920, 2, 4000, 4000, 0.045, 30],
  ["g6-dedicated-4", "Dedicated 8GB", 8192, 163840, 4, 5000, 5000, 0.09, 60],
  ["g7-highmem-1", "Vm 24GB", 24576, 20480, 2, 5000, 5000, 0.09, 60],
  ["g7-highmem-2", "Vm 48GB", 49152, 40960, 2, 6000, 6000, 0.18, 120],
  ["g1-gpu-rtx6000-1", "Dedicated 32GB + RTX6000 GPU x1", 32768, 655360, 8, 16000, 10000, 1.5, 1000],
];

/** The plan after a free upgrade, by plan. Only legacy plans have one. */
const successors: Readonly<Record<string, string>> = {
  "g5-standard-1": "g6-standard-1",
  "g5-standard-8": "g6-standard-8",
};

const legacyRows: typeof planRows = [
  ["g5-standard-1", "Vm 2GB (2017)", 2048, 30720, 1, 2000, 1000, 0.015, 10],
  ["g5-standard-8", "Vm 24GB (2017)", 24576, 393216, 8, 16000, 2000, 0.24, 160],
];

function plansOf(rows: typeof planRows): readonly Plan[] {
  return rows.map(([id, label, memory, disk, vcpus, transfer, networkOut, hourly, monthly]) =>
    Object.assign(
      { id, label, class: planClass(id), memory, disk, vcpus, transfer, gpus: id.includes("gpu") ? 1 : 0 },
      {
        network_out: networkOut,
        successor: successors[id] ?? null,
        price: { hourly, monthly },
        addons: { backups: { price: { hourly: Number((hourly / 4).toFixed(4)), monthly: monthly / 4 } } },
      },
    ),
  );
}

export const plans: readonly Plan[] = plansOf(planRows);
export const legacyPlans: readonly Plan[] = plansOf(legacyRows);

function planClass(id: string): string {
  return /^g\d-(nanode|standard|dedicated|highmem|gpu)/.exec(id)?.[1] ?? "standard";
}

// StackScripts: public ones of other users, a private one, and questions of every kind.

const shared = {
  user_avatar_id: "4f1c0d2e7a9b4c55a0e1d2c3b4a59687",
  created: "2021-11-09T10:15:00",
  updated: "2022-03-09T10:15:00",
  rev_note: "first",
};

export const scripts: readonly Script[] = [
  {
    ...shared,
    id: 90021,
    username: "ops-anna",
    label: "base setup",
    description: "Installs our agents and keys",
    images: ["vm/debian10", "vm/debian11", "vm/ubuntu20.04", "vm/ubuntu22.04"],
    deployments_total: 4,
    deployments_active: 2,
    is_public: false,
    script: "#!/bin/bash\napt-get update && apt-get -y upgrade\n",
    user_defined_fields: [],
  },
  {
    ...shared,
    id: 90022,
    username: "stacks",
    label: "Web server",
    description: "A web server with a certificate",
    images: ["vm/debian11", "vm/ubuntu20.04", "vm/ubuntu22.04", "vm/rocky8"],
    deployments_total: 1520,
    deployments_active: 311,
    is_public: true,
    script:
      '#!/bin/bash\n# <UDF name="ADMIN_MAIL" label="Admin mail" example="a@example.net">\n' +
      '# <UDF name="DOMAIN" label="Domain">\n' +
      '# <UDF name="PHP" label="PHP version" oneof="7.4,8.0,8.1" default="8.1">\n',
    user_defined_fields: [
      { label: "Admin mail", name: "ADMIN_MAIL", example: "a@example.net" },
      { label: "Domain", name: "DOMAIN" },
      { label: "PHP version", name: "PHP", oneof: "7.4,8.0,8.1", default: "8.1" },
    ],
  },
  {
    ...shared,
    id: 90023,
    username: "stacks",
    label: "Debian hardening",
    description: "Firewall, updates and a log host",
    images: ["vm/debian9", "vm/debian10", "vm/debian11"],
    deployments_total: 87,
    deployments_active: 40,
    is_public: true,
    rev_note: "log host",
    script: '#!/bin/bash\n# <UDF name="LOG_HOST" label="Log host" default="">\n',
    user_defined_fields: [{ label: "Log host", name: "LOG_HOST", default: "" }],
  },
  {
    ...shared,
    id: 90024,
    username: "per",
    label: "Game server",
    description: "",
    images: ["vm/ubuntu18.04", "vm/arch"],
    deployments_total: 12,
    deployments_active: 0,
    is_public: true,
    script: '#!/bin/bash\n# <UDF name="GAMES" label="Games" manyof="chess,go,checkers" default="chess">\n',
    user_defined_fields: [{ label: "Games", name: "GAMES", manyof: "chess,go,checkers", default: "chess" }],
  },
];
