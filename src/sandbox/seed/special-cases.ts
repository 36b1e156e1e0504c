/** What single instances have that the others have not, so that every rule of document 1 has its case. */

import type { World } from "../store/world.ts";
import { dateTime } from "../clock.ts";
import { ofPlan } from "../resources/instance-resize.ts";
import type { Instance } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";

const day = 86_400_000;

/** Places in the order of creation; what a smaller account has not got is left out. */
const planned = 20;
const pooled = 21;
const failing = [22, 33] as const;
const ranged = 24;

export function markInstances(world: World, account: string, today: number): void {
  const rows = [...world.table("instance").of(account)];
  const move = rows[planned];
  if (move) {
    move.value.status = "running";
    move.hidden = { ...move.hidden, migration: dateTime(today + 10 * day + day / 8) };
  }
  addRange(world, rows[pooled], "2001:db8:5::2:5000", 116, true);
  addRange(world, rows[ranged], "2001:db8:e001:200::", 64, false);
  const [first, second] = failing.map((place) => rows[place]);
  if (first && second) first.hidden = { ...first.hidden, shared: second.value.ipv4.slice(0, 1) };
}

function addRange(
  world: World,
  row: Row<Instance> | undefined,
  range: string,
  prefix: number,
  pool: boolean,
): void {
  if (!row) return;
  row.value.status = "running";
  world.table("range").add(row.home, range, {
    range,
    prefix,
    region: row.value.region,
    route_target: row.value.ipv6?.replace(/\/\d+$/, "") ?? null,
    pool,
    instances: [row.value.id],
  });
}

/** The last instance of an account is of a type that has a free upgrade. */
export function ageLast(world: World, account: string, type: string): void {
  const last = [...world.table("instance").of(account)].at(-1);
  const plan = world.table("plan").get(type)?.value;
  if (last && plan) Object.assign(last.value, ofPlan(plan), { status: "running" });
}
