import { expect, test } from "@jest/globals";
import { provenBy } from "../../../src/gateway/index.ts";
import { StormingClients } from "../../../src/migration/plan/storming-clients.ts";

const WINDOW = { from: 1000, until: 2000 };
const clientOf = (name: string, address: string) => ({ name, by: provenBy(undefined, name, address) });

test("a client that storms is exempt from its stage until the window ends", () => {
  const storming = new StormingClients();
  expect(storming.add("first", WINDOW, clientOf("billing", "192.0.2.1"))).toBeUndefined();
  const isExempt = (stage: string, name: string, time: number) => storming.isExempt(stage, name, time);
  expect(isExempt("first", "billing", 1999)).toBe(true);
  expect(isExempt("first", "billing", 2000)).toBe(false);
  expect(isExempt("second", "billing", 1500)).toBe(false);
  expect(isExempt("first", "dns", 1500)).toBe(false);
});

test("three clients pause a stage, of which those with one token or one network are one", () => {
  const storming = new StormingClients();
  const add = (name: string, address: string) => storming.add("first", WINDOW, clientOf(name, address));
  expect(add("billing", "192.0.2.1")).toBeUndefined();
  expect(add("billing", "192.0.2.2")).toBeUndefined();
  expect(add("dns", "192.0.2.1")).toBeUndefined();
  expect(add("shop", "2001:db8:1:1::1")).toBeUndefined();
  expect(add("cron", "2001:db8:1:2::1")).toBeUndefined();
  expect(add("backup", "192.0.2.3")).toEqual(["billing", "shop", "backup"]);
});

test("storms of different windows and stages are not counted together", () => {
  const storming = new StormingClients();
  const windows = [WINDOW, { from: 3000, until: 4000 }];
  for (const [n, window] of windows.entries())
    for (const stage of ["first", "second"])
      for (const client of [clientOf(`a${n}`, "192.0.2.1"), clientOf(`b${n}`, "192.0.2.2")])
        expect(storming.add(stage, window, client)).toBeUndefined();
});
