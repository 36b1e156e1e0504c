/** Every resource of the service. */

import type { Resource } from "../resource/declaration.ts";
import { account, settings } from "./account.ts";
import { address } from "./address.ts";
import { backup } from "./backup.ts";
import { invoice, invoiceItem, payment, paymentMethod } from "./billing.ts";
import { kernel, plan, region } from "./catalogs.ts";
import { client } from "./client.ts";
import { cluster, orchVersion } from "./cluster.ts";
import { config } from "./config.ts";
import { databaseBackup } from "./database-backup.ts";
import { databaseType, engine } from "./database-catalogs.ts";
import { database } from "./database.ts";
import { disk } from "./disk.ts";
import { domain } from "./domain.ts";
import { event } from "./event.ts";
import { firewall, firewallDevice, vlan } from "./firewall.ts";
import { image } from "./image.ts";
import { instance } from "./instance.ts";
import { credential, service } from "./managed.ts";
import { nodebalancerConfig, nodebalancerNode } from "./nodebalancer-config.ts";
import { nodebalancer } from "./nodebalancer.ts";
import { maintenance, notification } from "./notification.ts";
import { pool } from "./pool.ts";
import { device, login, profile, profileLogin, sshKey } from "./profile.ts";
import { ipv6pool, range } from "./range.ts";
import { dnsRecord } from "./record.ts";
import { script } from "./script.ts";
import { serviceTransfer } from "./service-transfer.ts";
import { bucket, storageCluster, storageKey } from "./storage.ts";
import { tag } from "./tag.ts";
import { reply, ticket } from "./ticket.ts";
import { app, token } from "./token.ts";
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
