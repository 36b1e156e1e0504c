import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { LANES, RECORD_FILTERS } from "../../src/audit/index.ts";
// @ts-expect-error The pages are JavaScript without declarations.
import { auditQuery, FIELDS } from "../../src/console/public/views/record-filters.js";

describe("every filter of audit records", () => {
  test("has a field in the traffic view of the console, whose `span` gives `since`", () => {
    const fields = [...Object.keys(FIELDS).filter((name) => name !== "span"), "since", "until"];
    expect(fields.toSorted()).toEqual(RECORD_FILTERS.toSorted());
  });

  test("has a row in the page of the admin API", () => {
    const page = readFileSync("docs/reference/admin-api.md", "utf8");
    for (const name of RECORD_FILTERS) expect(page).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\|`, "m"));
  });

  test("is a flag of replay and coverage in the reference of commands", () => {
    const flags = RECORD_FILTERS.map((name) => `\`--${name}\``).join(", ");
    const lists = readFileSync("docs/reference/cli.md", "utf8").match(/^- `--client`, .*(?=: as for)/gm);
    expect(lists).toEqual([`- ${flags}`, `- ${flags}`]);
  });
});

test("the traffic view of the console offers all lanes", () => {
  expect(FIELDS.lane.choices).toEqual(LANES);
});

test("the filled fields of the traffic view are parameters of the admin API", () => {
  const filled = { route: "", client: "billing", status: "404", lane: "", span: "1h" };
  expect(String(auditQuery(filled, Date.UTC(2026, 2, 1)))).toBe(
    "client=billing&status=404&since=2026-02-28T23%3A00%3A00.000Z",
  );
});
