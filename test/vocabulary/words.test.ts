import { describe, expect, test } from "@jest/globals";
import { parseWords, renameDeep, renaming } from "../../src/vocabulary/words.ts";

const rename = renaming({ vm: "acme", orch: "acmeks" });

describe("the service's own words", () => {
  test.each([
    ["vm", "acme"],
    ["vms", "acmes"],
    ["vm_id", "acme_id"],
    ["vm/debian8", "acme/debian8"],
    ["add_vms", "add_acmes"],
    ["GET /vm/instances/:id", "GET /acme/instances/:id"],
    ["vms:view", "acmes:view"],
    ["vm_boot", "acme_boot"],
    ["vm2048.5", "acme2048.5"],
    ["Vms", "Acmes"],
    ["orchcluster_id", "acmekscluster_id"],
    ["/orch/clusters", "/acmeks/clusters"],
  ])("%s becomes %s", (from, to) => expect(rename(from)).toBe(to));

  test.each(["vmlinuz", "orchestra", "kvm", "evms", "uvm_id"])("%s is another word", (text) =>
    expect(rename(text)).toBe(text),
  );

  test("keys and values are renamed at any depth, other values are kept", () => {
    expect(renameDeep({ vms: [{ vm_id: 1, id: "vm/x", on: true, none: null }] }, rename)).toEqual({
      acmes: [{ acme_id: 1, id: "acme/x", on: true, none: null }],
    });
  });

  test("the default words change nothing", () => {
    const value = { vms: [] };
    expect(renaming(parseWords("vm=vm,orch=orch"))("vms")).toBe("vms");
    expect(renameDeep(value, renaming({}))).toEqual(value);
  });

  test.each(["vm", "vm=", "=x", "vm=A b", "vm=1x"])("%j is refused", (text) =>
    expect(() => parseWords(text)).toThrow("is not word=word"),
  );
});
