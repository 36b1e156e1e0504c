/** Scopes both ways (T-5.2 to T-5.4), and laws that hold for all of them. */
import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { parse } from "yaml";
import { type Grants, Scopes } from "../../../src/pack/credentials/scopes.ts";

const { scopes: definition } = parse(readFileSync("mappings/pack.yaml", "utf8")) as {
  scopes: NonNullable<ConstructorParameters<typeof Scopes>[0]>;
};
const scopes = new Scopes(definition);
const resources = Object.keys(definition.resources);
const plain = (grants: Grants) => (grants === "all" ? "all" : Object.fromEntries(grants));

describe("T-5.2 alpha's scopes", () => {
  test.each([
    ["vms:view", { vms: 0 }, []],
    ["A-151 vms:view,vms:create,vms:modify", { vms: 2 }, ["A-151"]],
    ["A-152 vms:*", { vms: 3 }, ["A-152"]],
    ["A-153 *", "all", ["A-153"]],
    ["vms:view,*", "all", []],
    ["vms", { vms: 3 }, []],
    ["scripts:modify", { stackscripts: 1 }, []],
    [" vms:view ; ips:view,, ", { vms: 0, ips: 0 }, []],
    ["", {}, []],
    [",", {}, []],
    [
      "cats:view,vms:fly,vms:view:x,:view,vms:,VMS:view",
      {},
      ["cats:view", "vms:fly", "vms:view:x", ":view", "vms:", "VMS:view"],
    ],
    [
      "__proto__:view,constructor,toString:*,hasOwnProperty",
      {},
      ["__proto__:view", "constructor", "toString:*", "hasOwnProperty"],
    ],
    ["*:view,**", {}, ["*:view", "**"]],
  ])("parses %s", (text, grants, unknown) => {
    const read = scopes.read(text);
    expect([plain(read.grants), read.unknown]).toEqual([grants, unknown]);
  });

  test.each([
    ["tickets:view,clients:delete", ["account:read_write", "events:read_only"]],
    ["vms:view,dnszones:modify", ["vms:read_only", "domains:read_write", "events:read_only"]],
    ["*", ["*"]],
    ["", []],
  ])("%s become v4's %j", (text, v4) => {
    expect(scopes.toV4(text)).toEqual(v4);
  });
});

describe("T-5.3 v4's scopes", () => {
  test.each([
    ["*", "*"],
    ["vms:read_only", "vms:view"],
    ["vms:read_write,domains:read_only", "vms:delete,dnszones:view"],
    ["vms:read_only vms:read_write", "vms:delete"],
    ["vms:*", "vms:delete"],
    ["account:read_only", "account:view,tokens:view,clients:view,users:view,tickets:view"],
    ["databases:read_write firewall:read_only orch:read_write", ""],
    ["", ""],
  ])("%s become alpha's %s", (v4, alpha) => {
    expect(scopes.write(scopes.grants(v4))).toBe(alpha);
  });
});

const level = fc.integer({ min: 0, max: 3 });
const grants: fc.Arbitrary<Grants> = fc.oneof(
  fc.constant("all" as const),
  fc
    .dictionary(fc.constantFrom(...resources), level)
    .map((levels): Grants => new Map(Object.entries(levels))),
);
const accesses = resources.flatMap((resource) => [0, 1, 2, 3].map((top) => ({ resource, level: top })));
const may = (of: Grants): boolean[] => accesses.map((access) => scopes.permits(of, access));

describe("scope properties", () => {
  test("a written scope list parses to the same scopes", () => {
    fc.assert(
      fc.property(grants, (one) => {
        expect(plain(scopes.read(scopes.write(one)).grants)).toEqual(plain(one));
      }),
    );
  });

  test("L-22 the intersection of two scope lists permits exactly what both permit", () => {
    fc.assert(
      fc.property(grants, grants, (one, other) => {
        const [both, left, right] = [may(scopes.common(one, other)), may(one), may(other)];
        expect(both).toEqual(left.map((yes, n) => yes && right[n] === true));
      }),
    );
  });

  test("L-22 the translated scopes always cover what alpha requested", () => {
    fc.assert(
      fc.property(grants, (asked) => {
        const held = may(scopes.grants(scopes.toV4(scopes.write(asked)).join(" ")));
        may(asked).forEach((yes, n) => expect(!yes || held[n]).toBe(true));
      }),
    );
  });

  test("parsing never throws, and never permits what the text does not name", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { grants: read } = scopes.read(text);
        expect(resources).toEqual(expect.arrayContaining(read === "all" ? [] : [...read.keys()]));
      }),
    );
  });
});
