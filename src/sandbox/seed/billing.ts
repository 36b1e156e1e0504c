/** Invoices of the past months for what an account has, and the payments of them. */

import { dateTime } from "../clock.ts";
import { publicHome } from "../store/table.ts";
import type { Instance, Plan } from "../resources/shapes.ts";
import type { Store } from "../store/store.ts";
import type { Seeds } from "./account-seed.ts";

const hour = 3_600_000;
const taxRate = 0.25;
/** Instances that an invoice names. */
const instancesPerInvoice = 2;

const cents = (dollars: number): number => Math.round(dollars * 100) / 100;

interface Month {
  /** Milliseconds since 1970; `to` is the beginning of the next one. */
  readonly from: number;
  readonly to: number;
}

function createInvoiceItem(
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

function invoiceItemsFor({ label, backups }: Instance, plan: Plan, month: Month): Seeds {
  const hours = (month.to - month.from) / hour;
  const uptime = createInvoiceItem(`${label} - ${plan.label}`, "hourly", month, plan.price.hourly, hours);
  const { monthly } = plan.addons.backups.price;
  return backups.enabled
    ? [uptime, createInvoiceItem(`Backups - ${label}`, "misc", month, monthly, 1)]
    : [uptime];
}

/** Of the oldest instances, which were there all the time. */
function oldestInstances(store: Store, account: string, { from }: Month): Instance[] {
  return [...store.table("instance").inHome(account)]
    .map(({ value }) => value)
    .filter(({ created }) => Date.parse(`${created}Z`) <= from)
    .slice(0, instancesPerInvoice);
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
export function createBilling(
  store: Store,
  account: string,
  { today, months, paid }: { readonly today: number; readonly months: number; readonly paid: number },
): { readonly invoices: Seeds; readonly payments: Seeds } {
  const plans = new Map([...store.table("plan").inHome(publicHome)].map(({ value }) => [value.id, value]));
  const invoices = Array.from({ length: months }, (_, index): Seeds => {
    const month = monthBefore(today, months - index);
    const items = oldestInstances(store, account, month).flatMap((instance) => {
      const plan = plans.get(instance.type ?? "");
      return plan ? invoiceItemsFor(instance, plan, month) : [];
    });
    if (items.length === 0) return [];
    const sum = (member: string): number =>
      cents(items.reduce((total, each) => total + Number(each[member]), 0));
    const id = store.table("invoice").nextId();
    const totals = { subtotal: sum("amount"), tax: sum("tax"), total: sum("total") };
    return [{ id, date: dateTime(month.to + 4 * hour), label: `Invoice #${id}`, ...totals, items }];
  }).flat();
  const payments = invoices
    .slice(0, paid)
    .map(({ date, total }) => ({ date: dateTime(Date.parse(`${String(date)}Z`) + 56 * hour), usd: total }))
    .filter(({ date }) => date <= dateTime(today));
  return { invoices, payments };
}
