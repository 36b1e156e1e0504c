/** What single instances have that the others have not, so that every rule of document 1 has its case. */

import type { Store } from "../store/store.ts";
import { dateTime } from "../clock.ts";
import { ofPlan } from "../resources/instance-resize.ts";
import type { Instance } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";

const day = 86_400_000;

/** Places in the order of creation; what a smaller account has not got is left out. */
const migrationIndex = 20;
const poolIndex = 21;
const failoverIndexes = [22, 33] as const;
const rangeIndex = 24;

export function seedSpecialCases(store: Store, account: string, today: number): void {
  const rows = [...store.table("instance").inHome(account)];
  const move = rows[migrationIndex];
  if (move) {
    move.value.status = "running";
    move.hidden = { ...move.hidden, migration: dateTime(today + 10 * day + day / 8) };
  }
  addRange(store, rows[poolIndex], "2001:db8:5::2:5000", 116, true);
  addRange(store, rows[rangeIndex], "2001:db8:e001:200::", 64, false);
  const [first, second] = failoverIndexes.map((place) => rows[place]);
  if (first && second) first.hidden = { ...first.hidden, shared: second.value.ipv4.slice(0, 1) };
}

function addRange(
  store: Store,
  row: Row<Instance> | undefined,
  range: string,
  prefix: number,
  pool: boolean,
): void {
  if (!row) return;
  row.value.status = "running";
  store.table("range").add(row.home, range, {
    range,
    prefix,
    region: row.value.region,
    route_target: row.value.ipv6?.replace(/\/\d+$/, "") ?? null,
    pool,
    instances: [row.value.id],
  });
}

/** The last instance of an account is of a type that has a free upgrade. */
export function giveLegacyPlan(store: Store, account: string, type: string): void {
  const last = [...store.table("instance").inHome(account)].at(-1);
  const plan = store.table("plan").get(type)?.value;
  if (last && plan) Object.assign(last.value, ofPlan(plan), { status: "running" });
}
