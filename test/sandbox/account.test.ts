import { describe, expect, test } from "@jest/globals";
import {
  errorFields,
  items,
  sandboxForEachTest,
  type SandboxResponse,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const account = async (): Promise<Json> => await v4.read("GET /account");
const put = (body: Json): Promise<SandboxResponse> => v4.ask("PUT /account", body);
const pay = (change: Json): Promise<SandboxResponse> =>
  v4.ask("POST /account/credit-card", { ...card, ...change });
const card = { card_number: "4111111111111111", expiry_month: 5, expiry_year: 2022, cvv: "123" };

const faulty = (response: SandboxResponse): unknown[] =>
  response.status === 200 ? [] : errorFields(response);

describe("PUT /account", () => {
  const lengths = Object.entries({
    email: 128,
    company: 128,
    first_name: 50,
    last_name: 50,
    address_1: 64,
    address_2: 64,
    city: 24,
    state: 24,
    zip: 16,
    phone: 32,
    tax_id: 100,
  });

  test.each(lengths)("V-031 %s has at most %i characters", async (field, most) => {
    expect((await put({ [field]: "x".repeat(most) })).body[field]).toHaveLength(most);
    const refused = await put({ [field]: "x".repeat(most + 1) });
    expect([refused.status, errorFields(refused)]).toEqual([400, [field]]);
  });

  test.each(["N", "NOR", ""])("V-032 country %j is 400", async (country) => {
    expect(errorFields(await put({ country }))).toEqual(["country"]);
  });

  test("V-033 tax_id is null where the country collects none", async () => {
    expect((await put({ country: "DE", tax_id: "DE1" })).body.tax_id).toBe("DE1");
    expect((await put({ country: "US" })).body.tax_id).toBeNull();
    expect((await put({ tax_id: "US1" })).body.tax_id).toBeNull();
  });

  test("V-034 V-035 V-092 credit_card and the balances are read-only", async () => {
    const before = await account();
    expect(before).toMatchObject({ balance: 0, uninvoiced_balance: 12.4 });
    const sent = { credit_card: { last_four: 1, expiry: "01/2099" }, balance: -50, uninvoiced_balance: 0 };
    expect((await put(sent)).body).toEqual(before);
  });

  test("V-091 writes what is sent and keeps the rest", async () => {
    const before = await account();
    const change = { company: "Shop Ltd", city: "Oslo", phone: "1", zip: "0150", address_1: "a" };
    expect((await put(change)).body).toEqual({ ...before, ...change });
    expect(await account()).toEqual({ ...before, ...change });
  });

  test("V-093 V-189 a wrong type is 400 naming the field, and nothing is changed", async () => {
    const before = await account();
    const response = await put({ company: "Other", city: 5, phone: null });
    expect([response.status, errorFields(response)]).toEqual([400, ["city", "phone"]]);
    expect(await account()).toEqual(before);
  });

  test("V-181 leaves an event", async () => {
    await put({ company: "Shop Ltd" });
    const [event] = await v4.list("/account/events");
    expect(event).toMatchObject({ action: "account_update", entity: { type: "account" } });
  });
});

describe("POST /account/credit-card", () => {
  test.each(Object.keys(card))("V-036 without %s is 400 naming it", async (field) => {
    expect(errorFields(await pay({ [field]: undefined }))).toEqual([field]);
  });

  test.each([
    ["4".repeat(13), 200],
    ["4".repeat(23), 200],
    ["4".repeat(12), 400],
    ["4".repeat(24), 400],
    ["4111 1111 1111 1111", 400],
    ["4111-1111-1111-1111", 400],
  ])("V-037 card_number %s is %i", async (number, status) => {
    const response = await pay({ card_number: number });
    expect(response.status).toBe(status);
    expect(faulty(response)).toEqual(status === 400 ? ["card_number"] : []);
  });

  test.each([
    [{ expiry_month: 0 }, "expiry_month"],
    [{ expiry_month: 13 }, "expiry_month"],
    [{ expiry_year: 31 }, "expiry_year"],
  ])("V-038 expiry %j is 400", async (change, field) => {
    expect(errorFields(await pay(change))).toEqual([field]);
  });

  test("V-039 this month is accepted, last month is not", async () => {
    expect((await pay({})).status).toBe(200);
    expect((await pay({ expiry_month: 4 })).status).toBe(400);
    expect((await pay({ expiry_month: 12, expiry_year: 2021 })).status).toBe(400);
  });

  test("V-094 V-095 V-190 returns {} and replaces the card", async () => {
    const response = await pay({ card_number: "5500005555555559", expiry_year: 2030 });
    expect([response.status, response.body]).toEqual([200, {}]);
    expect((await account()).credit_card).toEqual({ last_four: 5559, expiry: "05/2030" });
    expect(await v4.list("/account/payment-methods")).toHaveLength(1);
  });

  test("V-040 no response contains number and cvv", async () => {
    await pay({ card_number: "5500005555555559", cvv: "9871" });
    for (const path of ["", "/payment-methods", "/events", "/payments", "/settings"]) {
      const text = JSON.stringify(await v4.read(`GET /account${path}`));
      expect(text).not.toMatch(/5500005555555559|9871/);
    }
  });
});

describe("payments", () => {
  const wallet = { cancel_url: "https://a.example", redirect_url: "https://b.example", usd: "20.00" };
  const execute = { payer_id: "P", payment_id: "I" };

  test.each([
    ["", wallet],
    ["/execute", execute],
  ])("V-099 V-101 wallet%s is disabled", async (path, body) => {
    const request = `POST /account/payments/wallet${path}`;
    const refused = await v4.as("other").ask(request, body);
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({ errors: [{ reason: expect.stringMatching(/disabled/) }] });
    expect((await v4.as("other").read("GET /account")).balance).toBe(25.5);
    for (const field of Object.keys(body)) {
      expect(await v4.faults(request, { ...body, [field]: undefined })).toEqual([field]);
    }
  });

  test.each(["4.99", "2000.01", "10000.01", "-5", "x"])("V-100 usd %s is 400 naming usd", async (usd) => {
    const response = await v4.ask("POST /account/payments/wallet", { ...wallet, usd });
    expect([response.status, errorFields(response)]).toEqual([400, ["usd"]]);
  });

  test("V-152 a payment lowers the balance and removes its notification", async () => {
    const types = async (): Promise<unknown[]> =>
      (await v4.as("other").list("/account/notifications")).map(({ type }) => type);
    expect(await types()).toContain("payment_due");
    const paid = await v4.as("other").ask("POST /account/payments", { usd: "25.50" });
    expect(paid.body).toMatchObject({ usd: 25.5 });
    expect((await v4.as("other").read("GET /account")).balance).toBe(0);
    expect(await types()).not.toContain("payment_due");
    expect(await v4.as("other").list("/account/payments")).toHaveLength(1);
  });

  test("V-152 V-153 payment methods are added and read", async () => {
    const body = { type: "credit_card", is_default: false, data: { ...card, expiry_year: 2030 } };
    expect(await v4.read("POST /account/payment-methods", body)).toEqual({});
    const [, second] = await v4.list("/account/payment-methods");
    const one = `/account/payment-methods/${second?.id}`;
    expect(await v4.read(`GET ${one}`)).toMatchObject({
      is_default: false,
      data: { last_four: "1111" },
    });
    const replacing = { body: { ...body, is_default: true } };
    await v4.request("POST /account/payment-methods", replacing);
    const methods = await v4.list("/account/payment-methods");
    expect(methods.map((each) => each.is_default)).toEqual([false, false, true]);
  });
});

describe("V-098 invoices", () => {
  test("V-076 V-077 items add up", async () => {
    const [invoice] = await v4.list("/account/invoices");
    const found = items(await v4.ask(`GET /account/invoices/${invoice?.id}/items?page_size=25`));
    expect(found.length).toBeGreaterThan(0);
    for (const { unit_price: price, quantity, amount, tax, total, type, from, to } of found) {
      expect(typeof price).toBe("string");
      expect(Number(price) * Number(quantity)).toBeCloseTo(Number(amount), 6);
      expect(Number(amount) + Number(tax)).toBeCloseTo(Number(total), 6);
      expect(["hourly", "misc"]).toContain(type);
      expect(String(from) < String(to)).toBe(true);
    }
  });

  test("of another account or unknown are 404", async () => {
    expect(await v4.as("other").status("GET /account/invoices/3001/items")).toBe(404);
    expect(await v4.status("GET /account/invoices/1/items")).toBe(404);
  });
});

test("V-153 transfer, logins and settings are read", async () => {
  for (const path of ["/account/transfer", "/account/logins", "/profile/logins", "/account/settings"]) {
    expect(await v4.status(`GET ${path}`)).toBe(200);
  }
});

test("account settings: backups for every new instance", async () => {
  await v4.ask("PUT /account/settings", { backups_enabled: true, managed: true });
  expect(await v4.read("GET /account/settings")).toMatchObject({
    backups_enabled: true,
    managed: false,
  });
  const response = await v4.ask("POST /vm/instances", { type: "g6-standard-1", region: "us-east" });
  expect(response.body).toMatchObject({ backups: { enabled: true } });
});

test("V-152 V-153 instances are transferred to another account", async () => {
  const response = await v4.ask("POST /account/service-transfers", { entities: { vms: [5202] } });
  const { token } = response.body;
  expect(response.body).toMatchObject({ status: "pending", is_sender: true });
  expect(await v4.status(`POST /account/service-transfers/${String(token)}/accept`)).toBe(400);
  const accepted = `POST /account/service-transfers/${String(token)}/accept`;
  expect(await v4.as("other").status(accepted)).toBe(200);
  expect(await v4.status("GET /vm/instances/5202")).toBe(404);
  expect(await v4.as("other").status("GET /vm/instances/5202")).toBe(200);
});

test.each(["full", "other"] as const)(
  "invoices of %s name existing instances at the price of their types, and add up",
  async (as) => {
    const list = async (path: string): Promise<Json[]> => await v4.as(as).list(path);
    const labels = new Map((await list("/vm/instances")).map((each) => [each.label, each]));
    const plans = await list("/vm/types");
    const invoices = await list("/account/invoices");
    expect(invoices.length).toBeGreaterThan(0);
    for (const { id, label, date, subtotal, tax, total } of invoices) {
      expect(label).toBe(`Invoice #${String(id)}`);
      const found = await list(`/account/invoices/${String(id)}/items`);
      const sum = (name: string): number => found.reduce((all, each) => all + Number(each[name]), 0);
      expect(sum("amount")).toBeCloseTo(Number(subtotal), 6);
      expect(sum("tax")).toBeCloseTo(Number(tax), 6);
      expect(sum("total")).toBeCloseTo(Number(total), 6);
      for (const { label: named, type, from, to, unit_price: price, quantity } of found) {
        const instance = [...labels].find(([each]) => String(named).includes(String(each)))?.[1];
        const plan = plans.find((each) => each.id === instance?.type) as {
          label: string;
          price: { hourly: number };
          addons: { backups: { price: { monthly: number } } };
        };
        const hours = (Date.parse(`${String(to)}Z`) + 1000 - Date.parse(`${String(from)}Z`)) / 3_600_000;
        expect(String(instance?.created) <= String(from) && String(to) < String(date)).toBe(true);
        const hourly = [`${instance?.label} - ${plan.label}`, plan.price.hourly, hours];
        const backups = [`Backups - ${instance?.label}`, plan.addons.backups.price.monthly, 1];
        expect([named, Number(price), quantity]).toEqual(type === "hourly" ? hourly : backups);
      }
    }
  },
);
