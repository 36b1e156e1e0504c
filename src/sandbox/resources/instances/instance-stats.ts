/** Traffic and statistics of an instance (V-078, V-118 to V-121). */

import type { FieldError } from "../../http/problem.ts";
import { Problem } from "../../http/problem.ts";
import { createRandom } from "../../seeded-random.ts";
import type { InstanceCall } from "./instance-power.ts";
import type { Instance } from "../row-types.ts";

const minute = 60_000;
const day = 86_400_000;
/** Number of data points per series. */
const points = 288;

/** Returns the creation time of the instance, in milliseconds since 1970. */
function beginOf({ created }: Instance): number {
  return Date.parse(`${created}Z`);
}

/** Returns the fraction of a period (0 to 1) in which the instance existed. */
function partSince(instance: Instance, from: number, to: number): number {
  return to > from ? Math.max(0, to - Math.max(from, beginOf(instance))) / (to - from) : 0;
}

/** Returns the traffic of this month in bytes and the quota in GB. `billable` is always 0. */
export function transfer({ row, at }: InstanceCall): object {
  const quota = row.value.specs.transfer;
  const month = new Date(at);
  const part = partSince(row.value, Date.UTC(month.getUTCFullYear(), month.getUTCMonth()), at);
  return { used: Math.floor(createRandom(row.value.id).next() * quota * 2e8 * part), quota, billable: 0 };
}

/** Returns the statistics of the past 24 hours. */
export function stats(call: InstanceCall): object {
  const end = Math.floor(call.at / (5 * minute)) * 5 * minute;
  return curves(call, end - day, end, "day (5 min avg)");
}

/** Returns the statistics of one month. For the current month they cover the past 30 days. */
export function monthStats(call: InstanceCall): object {
  const { year, month } = monthOf(call);
  const [from, to] = [Date.UTC(year, month - 1), Date.UTC(year, month)];
  if (to <= call.at) return curves(call, from, to, "month (2 hour avg)");
  const end = Math.floor(call.at / (60 * minute)) * 60 * minute;
  return curves(call, end - 30 * day, end, "month (2 hour avg)");
}

/** Reads year and month from the path. @throws {Problem} 400 for an invalid or future month. */
function monthOf({ params, at }: InstanceCall): { year: number; month: number } {
  const errors: FieldError[] = [];
  const year = /^\d{4}$/.test(params["year"] ?? "") ? Number(params["year"]) : Number.NaN;
  const month = /^\d{1,2}$/.test(params["month"] ?? "") ? Number(params["month"]) : Number.NaN;
  if (!(year >= 2000 && year <= 2037)) errors.push({ reason: "year must be 2000 to 2037", field: "year" });
  if (!(month >= 1 && month <= 12)) errors.push({ reason: "month must be 1 to 12", field: "month" });
  if (errors.length === 0 && Date.UTC(year, month - 1) > at)
    errors.push({ reason: "The month must not be in the future", field: "month" });
  if (errors.length > 0) throw new Problem(400, errors);
  return { year, month };
}

type Point = readonly [milliseconds: number, reading: number];

function curves({ row }: InstanceCall, from: number, to: number, span: string): object {
  const chance = createRandom(row.value.id + Math.floor(from / day));
  const step = (to - from) / points;
  const begin = beginOf(row.value);
  const curve = (most: number): Point[] =>
    Array.from({ length: points }, (_, index): Point => [
      Math.round(from + index * step),
      Math.round(chance.next() * most * 100) / 100,
    ]).filter(([at]) => at >= begin);
  const traffic = (most: number): object => ({
    in: curve(most),
    out: curve(most * 2),
    private_in: curve(most / 10),
    private_out: curve(most / 10),
  });
  return {
    title: `${row.value.label} (${row.value.id}) - ${span}`,
    cpu: curve(60),
    io: { io: curve(20), swap: curve(1) },
    netv4: traffic(5000),
    netv6: traffic(800),
  };
}
