/** The list of all resources of the service. */

import type { Resource } from "../resource/resource-declaration.ts";
import { account, serviceTransfer, settings } from "./account/account.ts";
import { backup } from "./instances/backup.ts";
import { invoice, invoiceItem, payment, paymentMethod } from "./account/billing.ts";
import { databaseType, engine, kernel, plan, region } from "./services/catalogs.ts";
import { cluster } from "./services/cluster.ts";
import { config } from "./instances/config-profile.ts";
import { disk } from "./instances/disk.ts";
import { dnsRecord } from "./network/domain-record.ts";
import { domain } from "./network/domain.ts";
import { event, notification } from "./account/event.ts";
import { firewall, firewallDevice } from "./network/firewall.ts";
import { image } from "./services/image.ts";
import { instance } from "./instances/instance.ts";
import { ipv6pool, range } from "./network/ip-range.ts";
import { database, databaseBackup } from "./services/managed-database.ts";
import { credential, service } from "./account/managed.ts";
import { address } from "./network/network-address.ts";
import { pool } from "./services/node-pool.ts";
import { nodebalancerConfig, nodebalancerNode } from "./network/nodebalancer-config.ts";
import { nodebalancer } from "./network/nodebalancer.ts";
import { bucket, storageKey } from "./services/object-storage.ts";
import { login, profile, profileLogin } from "./account/profile.ts";
import { script } from "./services/stackscript.ts";
import { reply, ticket } from "./account/ticket.ts";
import { client, token } from "./account/token.ts";
import { user } from "./account/user.ts";
import { volume } from "./instances/volume.ts";

const catalogs: readonly Resource[] = [region, image, kernel, plan, script, engine, databaseType];
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
];
const accounts: readonly Resource[] = [
  account,
  settings,
  event,
  notification,
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
];
const people: readonly Resource[] = [profile, token, profileLogin];
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
