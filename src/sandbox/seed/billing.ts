/** Invoices of the past months for what an account has, and the payments of them. */

import { dateTime } from "../clock.ts";
import { everyone } from "../store/table.ts";
import type { Instance, Plan } from "../resources/shapes.ts";
import type { World } from "../store/world.ts";
import type { Seeds } from "./account-seed.ts";

const hour = 3_600_000;
const taxRate = 0.25;
/** Instances that an invoice names. */
const named = 2;

const cents = (dollars: number): number => Math.round(dollars * 100) / 100;

interface Month {
  /** Milliseconds since 1970; `to` is the beginning of the next one. */
  readonly from: number;
  readonly to: number;
}

function item(
  label: string,
  type: "hourly" | "misc",
  { from, to }: Month,
  price: number,
  quantity: number,
): Seeds[number] {
  const amount = cents(price * quantity);
  const tax = cents(amount * taxRate);
  return {
    label,
    type,
    from: dateTime(from),
    to: dateTime(to - 1000),
    quantity,
    unit_price: String(price),
    amount,
    tax,
    total: cents(amount + tax),
  };
}

function itemsFor({ label, backups }: Instance, plan: Plan, month: Month): Seeds {
  const hours = (month.to - month.from) / hour;
  const uptime = item(`${label} - ${plan.label}`, "hourly", month, plan.price.hourly, hours);
  const { monthly } = plan.addons.backups.price;
  return backups.enabled ? [uptime, item(`Backups - ${label}`, "misc", month, monthly, 1)] : [uptime];
}

/** Of the oldest instances, which were there all the time. */
function instancesOf(world: World, account: string, { from }: Month): Instance[] {
  return [...world.table("instance").of(account)]
    .map(({ value }) => value)
    .filter(({ created }) => Date.parse(`${created}Z`) <= from)
    .slice(0, named);
}

function monthBefore(today: number, back: number): Month {
  const date = new Date(today);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month - back), to: Date.UTC(year, month - back + 1) };
}

/**
 * @param months So many, the last one that is over being the newest
 * @param paid So many of them, from the oldest
 */
export function billingOf(
  world: World,
  account: string,
  { today, months, paid }: { readonly today: number; readonly months: number; readonly paid: number },
): { readonly invoices: Seeds; readonly payments: Seeds } {
  const plans = new Map([...world.table("plan").of(everyone)].map(({ value }) => [value.id, value]));
  const invoices = Array.from({ length: months }, (_, index): Seeds => {
    const month = monthBefore(today, months - index);
    const items = instancesOf(world, account, month).flatMap((instance) => {
      const plan = plans.get(instance.type ?? "");
      return plan ? itemsFor(instance, plan, month) : [];
    });
    if (items.length === 0) return [];
    const sum = (member: string): number =>
      cents(items.reduce((total, each) => total + Number(each[member]), 0));
    const id = world.table("invoice").nextId();
    const totals = { subtotal: sum("amount"), tax: sum("tax"), total: sum("total") };
    return [{ id, date: dateTime(month.to + 4 * hour), label: `Invoice #${id}`, ...totals, items }];
  }).flat();
  const payments = invoices
    .slice(0, paid)
    .map(({ date, total }) => ({ date: dateTime(Date.parse(`${String(date)}Z`) + 56 * hour), usd: total }))
    .filter(({ date }) => date <= dateTime(today));
  return { invoices, payments };
}
