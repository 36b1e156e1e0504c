/** The list of all resources of the service. */

import type { Resource } from "../resource/resource-declaration.ts";
import { account, serviceTransfer, settings } from "./account.ts";
import { backup } from "./backup.ts";
import { invoice, invoiceItem, payment, paymentMethod } from "./billing.ts";
import { databaseType, engine, kernel, plan, region } from "./catalogs.ts";
import { cluster, orchVersion } from "./cluster.ts";
import { config } from "./config-profile.ts";
import { disk } from "./disk.ts";
import { dnsRecord } from "./domain-record.ts";
import { domain } from "./domain.ts";
import { event, maintenance, notification } from "./event.ts";
import { firewall, firewallDevice, vlan } from "./firewall.ts";
import { image } from "./image.ts";
import { instance } from "./instance.ts";
import { ipv6pool, range } from "./ip-range.ts";
import { database, databaseBackup } from "./managed-database.ts";
import { credential, service } from "./managed.ts";
import { address } from "./network-address.ts";
import { pool } from "./node-pool.ts";
import { nodebalancerConfig, nodebalancerNode } from "./nodebalancer-config.ts";
import { nodebalancer } from "./nodebalancer.ts";
import { bucket, storageCluster, storageKey } from "./object-storage.ts";
import { device, login, profile, profileLogin, sshKey } from "./profile.ts";
import { script } from "./stackscript.ts";
import { tag } from "./tag.ts";
import { reply, ticket } from "./ticket.ts";
import { app, client, token } from "./token.ts";
import { user } from "./user.ts";
import { volume } from "./volume.ts";

const catalogs: readonly Resource[] = [
  region,
  image,
  kernel,
  plan,
  script,
  orchVersion,
  engine,
  databaseType,
  storageCluster,
];
const instances: readonly Resource[] = [instance, disk, config, backup, volume];
const network: readonly Resource[] = [
  address,
  range,
  ipv6pool,
  domain,
  dnsRecord,
  nodebalancer,
  nodebalancerConfig,
  nodebalancerNode,
  firewall,
  firewallDevice,
  vlan,
];
const accounts: readonly Resource[] = [
  account,
  settings,
  event,
  notification,
  maintenance,
  invoice,
  invoiceItem,
  payment,
  paymentMethod,
  serviceTransfer,
  client,
  user,
  login,
  ticket,
  reply,
  tag,
];
const people: readonly Resource[] = [profile, token, app, sshKey, device, profileLogin];
const services: readonly Resource[] = [
  credential,
  service,
  cluster,
  pool,
  database,
  databaseBackup,
  bucket,
  storageKey,
];

export const resources: readonly Resource[] = [
  ...catalogs,
  ...instances,
  ...network,
  ...accounts,
  ...people,
  ...services,
];
