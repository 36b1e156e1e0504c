/** Every request that the examples make of v4 is one that v4 describes. */

import { describe, expect, test } from "@jest/globals";
import { readExamples, splitCall } from "../../../src/authoring/examples/example.ts";
import { describedRequests, type V4Request } from "./v4-description.ts";
import { packIn } from "../../support/packs.ts";

const { examples } = readExamples("mappings", []);
const pack = packIn("mappings");
/** Lists that every service has. */
const catalogs = [...pack.resources.values()].flatMap(({ catalog }) =>
  (catalog?.calls ?? []).filter(({ optional }) => !optional),
);

describe("requests beside v4's operations", () => {
  const faultsOf = describedRequests();

  const calls: (readonly [title: string, call: string, request: V4Request])[] = examples.flatMap(
    ({ definition: { title, upstream } }) =>
      // v4 itself rejects requests that break its own rules.
      upstream
        .filter(({ response: { status } }) => status !== 400)
        .map(
          ({ request: call, response: _response, ...request }) =>
            [title, call, { ...splitCall(call, ""), ...request }] as const,
        ),
  );

  test.each(calls.map(([title, call, request]) => ({ title, call, request })))(
    "$title is a valid v4 request: $call",
    ({ request }) => expect(faultsOf(request)).toEqual([]),
  );

  test.each(catalogs.map(({ path, filter }) => ({ path, filter })))(
    "the catalog request of $path is valid",
    ({ path, filter }) => expect(faultsOf({ method: "GET", path, filter })).toEqual([]),
  );

  const filtered = pack.routes.flatMap(({ name, response: gives, object, source }) => {
    if (gives !== "list" || !("call" in source)) return [];
    const rules = [...(pack.resources.get(object)?.fields.values() ?? [])];
    const marked = rules
      // What v4 has no filter for is looked up before, and filtered by its mark.
      .filter(({ filter, boundary: mark }) => filter === true && mark === undefined)
      .map(({ upstream }) => upstream ?? "");
    return [[name, source.call.template, marked] as const];
  });

  test.each(filtered)("%s is filtered only by fields that v4 can filter by", (_name, template, marked) => {
    const filter = Object.fromEntries(marked.map((field) => [field, null]));
    const path = template.replaceAll(/\{\w+\}/g, "1");
    expect(faultsOf({ method: "GET", path, filter })).toEqual([]);
  });

  test.each([
    [{ method: "GET", path: "/vm/instance/5" }, "there is no such call"],
    [{ method: "GET", path: "/vm/instances?page=0" }, "page is 0"],
    [{ method: "GET", path: "/vm/instances/5?page=1" }, "the query has page"],
    [
      { method: "GET", path: "/vm/instances?page=1", filter: { hypervisor: "kvm" } },
      "hypervisor can't be filtered by",
    ],
    [
      { method: "POST", path: "/vm/instances", body: { region: "us-east" } },
      " must have required property 'type'",
    ],
    [{ method: "PUT", path: "/vm/instances/5", body: { lable: "x" } }, "there is no member lable"],
  ])("the validator rejects %j", (request, fault) => expect(faultsOf(request)).toContain(fault));
});
