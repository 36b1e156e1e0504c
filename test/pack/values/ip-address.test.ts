import { describe, expect, test } from "@jest/globals";
import { array, assert, constant, integer, oneof, property } from "fast-check";
import { networkAddress, shortestAddress } from "../../../src/pack/values/ip-address.ts";

const group = integer({ min: 0, max: 0xffff });
const groups = array(oneof(group, constant(0)), { minLength: 8, maxLength: 8 });
const spelt = (values: readonly number[]) => values.map((value) => value.toString(16)).join(":");
const padded = (values: readonly number[]) =>
  values.map((value) => value.toString(16).toUpperCase().padStart(4, "0")).join(":");
const bits = (values: readonly number[]) =>
  values.map((value) => value.toString(2).padStart(16, "0")).join("");

describe("the canonical form of an address", () => {
  test.each([
    ["198.51.100.23", "198.51.100.23"],
    ["2001:0DB8:0000:0000:0000:0000:0002:5001", "2001:db8::2:5001"],
    ["2001:db8:3c03:0:f03c:92ff:fe24:1a2b", "2001:db8:3c03:0:f03c:92ff:fe24:1a2b"],
    ["2001:DB8:3c03::f03c:92ff:fe24:1a2b", "2001:db8:3c03::f03c:92ff:fe24:1a2b"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["::ffff:192.0.2.1", "::ffff:c000:201"],
  ])("of %s is %s", (text, shortest) => expect(shortestAddress(text)).toBe(shortest));

  test.each([
    "",
    "first",
    "1.2.3",
    "01.2.3.4",
    "1.2.3.4/24",
    "fe80::1%eth0",
    "::1/64",
    "[::1]",
    "1::2::3",
    "::1\n",
  ])("%j is not an address", (text) => expect(shortestAddress(text)).toBeUndefined());

  test("is the same for all spellings, and is its own canonical form", () => {
    assert(
      property(groups, (values) => {
        const shortest = shortestAddress(padded(values)) ?? "";
        expect(shortestAddress(spelt(values))).toBe(shortest);
        expect(shortestAddress(shortest)).toBe(shortest);
      }),
    );
  });
});

describe("the first address of a network", () => {
  test.each([
    ["2001:db8::2:5001", 116, "2001:db8::2:5000"],
    ["2001:db8:3c03::f03c:92ff:fe24:1a2b", 64, "2001:db8:3c03::"],
    ["2001:db8::2:5001", 128, "2001:db8::2:5001"],
    ["2001:db8::2:5001", 0, "::"],
  ])("of %s/%i is %s", (address, prefix, first) => expect(networkAddress(address, prefix)).toBe(first));

  test.each([
    ["198.51.100.23", 24],
    ["first", 64],
    [null, 64],
    ["::1", "64"],
    ["::1", null],
    ["::1", -1],
    ["::1", 129],
    ["::1", Number.NaN],
  ])("of %j/%j is undefined", (address, prefix) => expect(networkAddress(address, prefix)).toBeUndefined());

  test("keeps the network's bits and zeroes the others", () => {
    assert(
      property(groups, integer({ min: 0, max: 128 }), (values, prefix) => {
        const first = bits(values).slice(0, prefix).padEnd(128, "0");
        const wanted = Array.from({ length: 8 }, (_, index) =>
          Number.parseInt(first.slice(16 * index, 16 * index + 16), 2),
        );
        expect(networkAddress(spelt(values), prefix)).toBe(shortestAddress(padded(wanted)));
      }),
    );
  });
});
