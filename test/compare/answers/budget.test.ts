import { expect, test } from "@jest/globals";
import { Budget, type Limits } from "../../../src/compare/answers/budget.ts";

const LIMITS: Limits = { perSecond: 10, perClient: 3, clientSeconds: 60, memory: 1000 };

function createBudget(limits: Partial<Limits> = {}): { budget: Budget; pass: (ms: number) => void } {
  let now = 5000;
  const budget = new Budget(
    () => ({ ...LIMITS, ...limits }),
    () => now,
  );
  return { budget, pass: (ms) => void (now += ms) };
}

const take = (budget: Budget, clients: readonly string[]): number =>
  clients.filter((client) => budget.takeCall(client)).length;

const clients = (count: number): string[] => Array.from({ length: count }, (_, index) => `client ${index}`);

test("no more calls are made than the file allows per second", () => {
  const { budget, pass } = createBudget();
  expect(take(budget, clients(100))).toBe(10);
  pass(500);
  expect(take(budget, clients(100))).toBe(5);
});

test("time without calls saves none for later", () => {
  const { budget, pass } = createBudget();
  pass(3_600_000);
  expect(take(budget, clients(100))).toBe(10);
});

test("a client's share of its own limit is not exceeded, and starts again with the next window", () => {
  const { budget, pass } = createBudget({ perSecond: 1000 });
  expect(take(budget, Array<string>(10).fill("shop"))).toBe(3);
  expect(take(budget, ["billing"])).toBe(1);
  pass(60_000);
  expect(take(budget, Array<string>(10).fill("shop"))).toBe(3);
});

test("a call that a client may not make uses no call of other clients", () => {
  const { budget } = createBudget({ perSecond: 4, perClient: 1 });
  expect(take(budget, Array<string>(10).fill("shop"))).toBe(1);
  expect(take(budget, clients(3))).toBe(3);
});

test("answers are held up to the memory of the file, and given back at the end", () => {
  const { budget } = createBudget();
  for (const client of clients(5)) expect(budget.begin(client)).toBe(true);
  expect(clients(5).map((client) => budget.hold(client, 240))).toEqual([true, true, true, true, false]);
  expect(budget.bytes).toBe(960);
  budget.end("client 0", 240);
  expect(budget.hold("client 4", 240)).toBe(true);
});

test("five hundred comparisons wait at the same time, and no more", () => {
  const { budget } = createBudget();
  expect(clients(1500).filter((client) => budget.begin(client))).toHaveLength(500);
  expect(budget.comparisons).toBe(500);
  budget.end("client 0", 0);
  expect(budget.begin("another")).toBe(true);
});

test.each([1, 100, 10_000])(
  "one client with %i comparisons at once leaves places and memory for others",
  (count) => {
    const { budget } = createBudget();
    for (let index = 0; index < count; index += 1) if (budget.begin("busy")) budget.hold("busy", 20);
    expect(budget.comparisons).toBeLessThanOrEqual(125);
    expect(budget.bytes).toBeLessThanOrEqual(250);
    for (const client of clients(3))
      expect([budget.begin(client), budget.hold(client, 250)]).toEqual([true, true]);
  },
);
