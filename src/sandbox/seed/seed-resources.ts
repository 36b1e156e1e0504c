/** Seed data of all other resources of the two accounts, including rare cases. */

import type { Seeds } from "./seed-file.ts";

type SeedResources = Readonly<Record<string, Seeds>>;

const time = "2022-04-01T09:00:00";
const dated = { created: time, updated: time };

export const annasResources: SeedResources = {
  domains: [
    {
      id: 7010,
      type: "master",
      domain: "shop.example.net",
      group: "shop",
      description: "storefront",
      soa_email: "dns@example.net",
      ttl_sec: 300,
      tags: ["prod"],
      ...dated,
      records: [
        { type: "A", name: "www", target: "198.18.20.81", ttl_sec: 300, ...dated },
        { type: "MX", target: "mail.example.net", priority: 10, ...dated },
        { type: "TXT", target: "v=spf1 -all", ...dated },
        { type: "CNAME", name: "blog", target: "www.shop.example.net", ...dated },
        {
          type: "SRV",
          name: "_sip._tcp",
          target: "sip.example.net",
          priority: 5,
          weight: 10,
          port: 5060,
          service: "_sip",
          protocol: "_tcp",
          ...dated,
        },
      ],
    },
    { id: 7011, type: "slave", domain: "mirror.example.net", master_ips: ["192.0.2.53"], ...dated },
    {
      id: 7012,
      type: "master",
      domain: "old.example.net",
      soa_email: "dns@example.net",
      status: "disabled",
      ...dated,
    },
  ],
  volumes: [
    { label: "data-one", status: "active", size: 40, region: "us-east", instance: null, ...dated },
    { label: "archive", status: "contact_support", size: 200, region: "eu-west", instance: null, ...dated },
  ],
  nodebalancers: [
    {
      label: "lb-shop",
      region: "us-east",
      hostname: "203-0-113-9.ip.usercontent.example.com",
      ipv4: "203.0.113.9",
      transfer: { total: 12.5, out: 10.1, in: 2.4 },
      ...dated,
      configs: [
        {
          id: 4401,
          nodebalancer_id: 12_077,
          check: "http",
          check_path: "/health",
          nodes: [
            {
              address: "192.168.148.81:80",
              label: "web-01",
              status: "UP",
              config_id: 4401,
              nodebalancer_id: 12_077,
            },
          ],
        },
      ],
    },
  ],
  tickets: [
    {
      summary: "Resize is stuck",
      description: "Disk resize stays at zero percent.",
      status: "open",
      attachments: ["trace.txt"],
      opened: "2022-05-08T10:15:00",
      opened_by: "ops-anna",
      updated: "2022-05-09T08:00:00",
      updated_by: "support",
      avatar_id: "4f1c0d2e7a9b4c55a0e1d2c3b4a59687",
      replies: [
        {
          description: "We are looking into it.",
          created: "2022-05-09T08:00:00",
          created_by: "support",
          from_vm: true,
          avatar_id: "00000000000000000000000000000000",
        },
      ],
    },
    {
      summary: "Question about an invoice",
      description: "What is this item?",
      status: "closed",
      closed: "2022-03-02T09:00:00",
      closable: false,
      opened: "2022-03-01T09:00:00",
      opened_by: "bill-ola",
      updated: "2022-03-02T09:00:00",
      updated_by: "support",
      avatar_id: "4f1c0d2e7a9b4c55a0e1d2c3b4a59688",
    },
  ],
  "payment-methods": [
    {
      type: "credit_card",
      is_default: true,
      created: time,
      data: { card_type: "Visa", expiry: "11/2031", last_four: "1111" },
    },
  ],
  logins: [
    { datetime: "2022-05-08T07:00:00", ip: "203.0.113.40", username: "ops-anna" },
    { datetime: "2022-05-09T07:00:00", ip: "203.0.113.41", username: "dev-kai", restricted: true },
    { datetime: "2022-05-09T10:15:00", ip: "203.0.113.40", username: "ops-anna" },
  ],
  "oauth-clients": [
    {
      id: "9f0c1d2e3b4a59687766",
      label: "inventory tool",
      redirect_uri: "https://app.example.net/callback",
      hidden: { secret: "5a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877" },
    },
    {
      id: "1b2c3d4e5f60718293a4",
      label: "status board",
      redirect_uri: "https://status.example.net/signed-in",
      public: true,
    },
  ],
  credentials: [
    { label: "db admin", last_decrypted: null },
    { label: "web admin", last_decrypted: "2022-04-01T09:44:16" },
  ],
  services: [
    {
      label: "shop front",
      service_type: "url",
      address: "https://shop.example.net",
      timeout: 30,
      status: "ok",
      ...dated,
    },
  ],
};

export const persResources: SeedResources = {
  domains: [
    {
      type: "master",
      domain: "per.example.org",
      soa_email: "dns@example.org",
      ...dated,
      records: [{ type: "A", target: "198.18.20.200", ...dated }],
    },
  ],
  volumes: [{ label: "backup", status: "active", size: 20, region: "eu-west", instance: null, ...dated }],
  "payment-methods": [
    {
      type: "credit_card",
      is_default: true,
      created: time,
      data: { card_type: "Visa", expiry: "02/2030", last_four: "4242" },
    },
  ],
};

/** Catalogs of clusters, databases and object storage. */
export const serviceCatalogs = {
  orchVersion: [{ id: "1.21" }, { id: "1.22" }, { id: "1.23" }],
  engine: [
    { id: "mysql/5.7.30", engine: "mysql", version: "5.7.30" },
    { id: "mysql/8.0.26", engine: "mysql", version: "8.0.26" },
  ],
  databaseType: [1, 2, 4].map((size) => ({
    id: `g6-standard-${size}`,
    label: `DBaaS - ${size * 2}GB`,
    engines: {
      mysql: [1, 3].map((quantity) => ({
        quantity,
        price: { hourly: 0.03 * size * quantity, monthly: 20 * size * quantity },
      })),
    },
    memory: size * 2048,
    disk: size * 40_960,
    vcpus: size,
    deprecated: false,
    class: "standard",
  })),
  storageCluster: ["us-east", "eu-central", "ap-south"].map((region) => ({
    id: `${region}-1`,
    domain: `${region}-1.objects.example.com`,
    status: "available",
    region,
    static_site_domain: `website-${region}-1.objects.example.com`,
  })),
};
