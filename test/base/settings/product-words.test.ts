import { describe, expect, test } from "@jest/globals";
import {
  parseProductWords,
  renameDeep,
  createRenamer,
  scopeRenaming,
} from "../../../src/base/settings/product-words.ts";

const rename = createRenamer({ vm: "acme", orch: "acmeks" });

describe("the service's product words", () => {
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

  test.each(["vmlinuz", "orchestra", "kvm", "evms", "uvm_id"])("%s is not renamed", (text) =>
    expect(rename(text)).toBe(text),
  );

  test("only rename keys and string values, at any depth", () => {
    expect(renameDeep({ vms: [{ vm_id: 1, id: "vm/x", on: true, none: null }] }, rename)).toEqual({
      acmes: [{ acme_id: 1, id: "acme/x", on: true, none: null }],
    });
  });

  test("change nothing by default", () => {
    const value = { vms: [] };
    expect(createRenamer(parseProductWords("vm=vm,orch=orch"))("vms")).toBe("vms");
    expect(renameDeep(value, createRenamer({}))).toEqual(value);
  });

  test.each(["vm", "vm=", "=x", "vm=A b", "vm=1x"])("%j is rejected", (text) =>
    expect(() => parseProductWords(text)).toThrow("is not word=word"),
  );
});

describe("product words of scope areas and event actions", () => {
  const words = { vm: "acme", script: "stackscript", monitor: "longview", loadbalancer: "nodebalancer" };
  const scopeWords = ["script", "monitor", "loadbalancer"];
  const inScopes = scopeRenaming(words, scopeWords);

  test.each([
    ["scripts", "stackscripts"],
    ["scripts:read_only", "stackscripts:read_only"],
    ["loadbalancers:read_write monitor:read_only", "nodebalancers:read_write longview:read_only"],
    ["stackscripts:view", "stackscripts:view"],
    ["scripture:view", "scripture:view"],
  ])("the scopes %s become %s", (from, to) => expect(inScopes.scopes(from)).toBe(to));

  test.each([
    ["script_create", "stackscript_create"],
    ["stackscript_create", "stackscript_create"],
    ["script", "script"],
    ["user_script_create", "user_script_create"],
  ])("the action %s becomes %s", (from, to) => expect(inScopes.actions(from)).toBe(to));

  test("rename no other texts", () => {
    const rename = createRenamer(words, scopeWords);
    expect(rename("script")).toBe("script");
    expect(rename("vm/monitor/scripts")).toBe("acme/monitor/scripts");
  });

  test("change nothing if they are not set", () => {
    const { scopes, actions } = scopeRenaming({ vm: "acme" }, scopeWords);
    expect(scopes("scripts:read_only")).toBe("scripts:read_only");
    expect(actions("script_create")).toBe("script_create");
  });
});
