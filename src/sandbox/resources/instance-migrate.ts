/** Moving an instance: to another host, as the provider planned, or to another region (document 1, Migration rules). */

import { invalid } from "../http/problem.ts";
import { recordEvent } from "../resource/events.ts";
import type { TransitionStage } from "../resource/transitions.ts";
import type { Store } from "../store/store.ts";
import type { InstanceCall } from "./instance-power.ts";
import { booting, go, isOff, refuseBusy, shuttingDown } from "./instance-power.ts";
import { ofPlan, successorOf } from "./instance-resize.ts";
import type { Instance, Region } from "./shapes.ts";

const movingHost = 5;
const movingRegion = 10;

export function migrate(call: InstanceCall): void {
  const { store, row, body, action } = call;
  const region = targetRegion(call);
  const upgraded = body["upgrade"] === true ? upgrade(call, region) : {};
  if (!region && row.hidden?.migration === undefined)
    throw invalid("No migration is pending for this instance");
  if (region) refuseOldAddresses(call, region);
  refuseBusy(call);
  // A planned move that has not begun gives way to one between regions.
  delete row.hidden?.migration;
  if (!region) return go(call, stages(row.value, movingHost, upgraded), store.names.migrateScheduled);
  recordEvent(call, action.event ?? "", row);
  const moved = { ...upgraded, region: region.id };
  go(call, stages(row.value, movingRegion, moved), store.names.migrateDatacenter);
}

/** An instance that is on goes off for it, and on again afterwards. */
function stages({ status }: Instance, moving: number, set: object): TransitionStage[] {
  const off = isOff({ value: { status } });
  const begin = off ? [] : [shuttingDown];
  const end = off ? [{ status, durationSeconds: 0, set }] : [{ ...booting[0], set }, booting[1]];
  return [...begin, { status: "migrating", durationSeconds: moving }, ...end];
}

function targetRegion({ store, row, body }: InstanceCall): Region | undefined {
  const id = body["region"];
  if (id === undefined) return undefined;
  const region = store.table("region").get(id)?.value;
  if (!region) throw invalid("region is not valid", "region");
  if (id === row.value.region) throw invalid("The instance is in this region already", "region");
  return region;
}

function upgrade(call: InstanceCall, region: Region | undefined): object {
  const plan = successorOf(call);
  if (!plan) throw invalid("There is no free upgrade for the type of this instance", "upgrade");
  const target = call.store.table("region").get(region?.id ?? call.row.value.region);
  if (target?.hidden?.noUpgrades) throw invalid(`${String(target.id)} allows no upgrades`, "upgrade");
  return ofPlan(plan);
}

/** Newer regions, which are those with VLANs, know neither /116 pools nor failover. */
function refuseOldAddresses({ store, row }: InstanceCall, region: Region): void {
  if (!region.capabilities.includes("Vlans")) return;
  const remedy = "choose another data center or contact support";
  if (usesPool(store, row.value.id))
    throw invalid(`${region.id} has no IPv6 /116 pools; ${remedy}`, "region");
  if (usesFailover(store, row.value)) throw invalid(`${region.id} has no IP failover; ${remedy}`, "region");
}

function usesPool(store: Store, instance: number): boolean {
  return [...store.table("range").all()].some(
    ({ value }) => value.pool && value.prefix === 116 && value.instances.includes(instance),
  );
}

/** It answers for addresses of others, or others for its own. */
function usesFailover(store: Store, { id, ipv4 }: Instance): boolean {
  const shares = (shared: string[] = []): boolean => shared.some((each) => ipv4.includes(each));
  return [...store.table("instance").all()].some(
    (other) => (other.id === id && (other.hidden?.shared ?? []).length > 0) || shares(other.hidden?.shared),
  );
}
