/** The file of `SUNSET_FILE`: its problems, with codes and lines, and dates that it must not shorten. */
import { describe, expect, test } from "@jest/globals";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { problemsIn } from "../../support/operator-file.ts";
import type { PlanDefinition } from "../../../src/migration/plan/plan.ts";
import type { PlanContext } from "../../../src/migration/plan/plan-names.ts";
import { planFile } from "../../../src/migration/plan/plan-file.ts";

const DIRECTORY = parseOperatorFile(
  { file: "clients.yaml", text: "billing: {}\nreports: {}\n" },
  CLIENTS_FILE,
);

const CONTEXT: PlanContext = {
  routes: ["GET /books", "POST /books"],
  fields: new Map([["book", ["title", "author.name"]]]),
  directory: DIRECTORY,
  hasAudit: true,
  published: undefined,
  time: Date.parse("2026-10-15"),
};

const read = (text: string, context: Partial<PlanContext> = {}): PlanDefinition =>
  parseOperatorFile(
    { file: "plan.yaml", text },
    planFile(() => ({ ...CONTEXT, ...context })),
  );

const problemsOf = (text: string, context: Partial<PlanContext> = {}): string[] =>
  problemsIn(() => read(text, context));

const WHOLE = `announced: 2026-10-01
end: 2027-03-31
policy: https://example.com/policy
guide: https://example.com/guide
stages:
  - freeze: 2026-11-01
    text: New applications use the new interface.
  - name: first brown-outs
    brown_out: "0 10 * * 1"
    for: 1h
    from: 2027-01-01
    until: 2027-02-01
    status: 503
    routes: [GET /books]
    wait_for: [billing]
  - field: book.author
    brown_out: "0 12 * * *"
    zone: Europe/Berlin
    for: 30m
    from: 2027-02-01
    clients: [reports, 0123456789abcdef]
  - end: 2027-03-01
    routes: [POST /books]
allow:
  billing: 2027-06-30
`;

test("a whole plan is valid", () => {
  expect(problemsOf(WHOLE)).toEqual([]);
  expect(read(WHOLE).stages.map(({ name, kind }) => [name, kind])).toEqual([
    ["freeze", "freeze"],
    ["first brown-outs", "brown_out"],
    ["field book.author", "field"],
    ["end of POST /books", "end"],
    ["end", "end"],
  ]);
});

test.each([
  [
    "end: 2026-09-30",
    "AG_SUNSET_END_BEFORE_ANNOUNCEMENT 2: 2026-09-30 is before the announcement, 2026-10-01",
  ],
  [
    "stages: [{ freeze: 2026-11-01, end: 2026-12-01 }]",
    "AG_SUNSET_STAGE_KIND 2: a stage has one of the keys",
  ],
  ["stages: [{ text: a }]", "AG_SUNSET_STAGE_KIND 2: a stage has one of the keys"],
  ["stages: [{ freeze: 2026-11-01, for: 1h }]", 'AG_SUNSET_STAGE_KEY 2: a stage with "freeze" has no "for"'],
  ["stages: [{ end: 2026-11-01 }]", "AG_SUNSET_STAGE_KEY 2: without routes or clients"],
  ['stages: [{ brown_out: "0 1 * * *", for: 1h }]', 'AG_SUNSET_STAGE_KEY 2: the key "from" is missing'],
  [
    'stages: [{ brown_out: "0 25 * * *", for: 1h, from: 2026-11-01 }]',
    'AG_SUNSET_CRON 2: "0 25 * * *" is not a pattern',
  ],
  [
    'stages: [{ brown_out: "0 1 * * *", for: 1h, from: 2026-11-01, zone: Berlin }]',
    'AG_SUNSET_ZONE 2: "Berlin" is not a time zone',
  ],
  [
    'stages: [{ brown_out: "0 1 * * *", for: 25h, from: 2026-11-01 }]',
    "AG_SUNSET_WINDOW_TOO_LONG 2: 25h is longer than a day",
  ],
  [
    'stages: [{ brown_out: "0 1 * * *", for: 1h, from: 2026-11-01, until: 2026-11-01 }]',
    "AG_SUNSET_ORDER 2: 2026-11-01 is not after 2026-11-01",
  ],
  [
    "stages: [{ freeze: 2026-09-01 }]",
    "AG_SUNSET_ORDER 2: 2026-09-01 is before the announcement, 2026-10-01",
  ],
  [
    "stages: [{ end: 2026-11-01, clients: [biling] }]",
    'AG_SUNSET_UNKNOWN_CLIENT 2: CLIENTS_FILE has no client "biling"',
  ],
  ["allow: { nobody: 2026-11-01 }", 'AG_SUNSET_UNKNOWN_CLIENT 2: CLIENTS_FILE has no client "nobody"'],
  [
    "stages: [{ end: 2026-11-01, routes: [GET /boks] }]",
    'AG_SUNSET_UNKNOWN_ROUTE 2: the pack has no route "GET /boks"',
  ],
  [
    'stages: [{ field: book.titel, brown_out: "0 1 * * *", for: 1h, from: 2026-11-01 }]',
    'AG_SUNSET_UNKNOWN_FIELD 2: the object "book" of the pack has no field "titel"',
  ],
  [
    'stages: [{ field: shelf.title, brown_out: "0 1 * * *", for: 1h, from: 2026-11-01 }]',
    'AG_SUNSET_UNKNOWN_FIELD 2: the pack has no object "shelf"',
  ],
  [
    "stages: [{ freeze: 2026-11-01, name: end }]",
    'AG_SUNSET_STAGE_TWICE 2: another stage is called "end" already',
  ],
  ["policy: /policy", "AG_FILE_INVALID 2: must be an http or https URL"],
  ["ends: 2027-01-01", 'AG_FILE_INVALID 2: unknown key "ends"'],
])("%j is a problem", (text, problem) => {
  expect(problemsOf(`announced: 2026-10-01\n${text}`)).toEqual([expect.stringContaining(problem)]);
});

test("stages follow each other, and are before the end", () => {
  expect(
    problemsOf(`announced: 2026-10-01
end: 2027-01-01
stages:
  - freeze: 2026-12-01
  - end: 2026-11-01
    routes: [GET /books]
  - end: 2027-01-01
    routes: [POST /books]`),
  ).toEqual([
    expect.stringContaining("AG_SUNSET_ORDER 5: 2026-11-01 is before that of the stage above it, 2026-12-01"),
    expect.stringContaining("AG_SUNSET_ORDER 7: 2027-01-01 is not before the end for all, 2027-01-01"),
  ]);
});

test.each([
  [
    "a window can wait for clients only with an audit store, which knows when they called",
    `{ brown_out: "0 1 * * *", for: 1h, from: 2026-11-01, wait_for: [billing] }`,
    expect.stringContaining("AG_SUNSET_NEEDS_AUDIT 2: "),
  ],
  [
    "a freeze needs an audit store, which knows who called before",
    "{ freeze: 2026-11-01 }",
    "AG_SUNSET_NEEDS_AUDIT 2: a freeze needs the audit, which knows who called before",
  ],
])("%s", (_, stage, problem) => {
  const text = `announced: 2026-10-01\nstages: [${stage}]`;
  expect(problemsOf(text)).toEqual([]);
  expect(problemsOf(text, { hasAudit: false })).toEqual([problem]);
});

describe("a published date", () => {
  const { dates: published } = read(WHOLE);
  const withPublished = (text: string) => problemsOf(text, { published });

  test("stays, or is later", () => {
    expect(withPublished(WHOLE)).toEqual([]);
    expect(withPublished(WHOLE.replace("end: 2027-03-31", "end: 2027-05-31"))).toEqual([]);
    expect(withPublished("announced: 2026-10-01")).toEqual([]);
  });

  test.each([
    ["end: 2027-03-31", "end: 2027-03-30", "the end was published as 2027-03-31, and is 2027-03-30 now"],
    [
      "freeze: 2026-11-01",
      "freeze: 2026-10-31",
      "the freeze was published as 2026-11-01, and is 2026-10-31 now",
    ],
    [
      "  billing: 2027-06-30",
      "  billing: 2027-06-29",
      "the end for billing was published as 2027-06-30, and is 2027-06-29 now",
    ],
    [
      "end: 2027-03-01\n    routes: [POST /books]",
      "end: 2027-02-28\n    routes: [POST /books]",
      "the end of POST /books was published as 2027-03-01, and is 2027-02-28 now",
    ],
    [
      "    routes: [POST /books]\nallow",
      "    clients: [reports]\nallow",
      "the end for reports was published as 2027-03-31, and is 2027-03-01 now",
    ],
    [
      "from: 2027-01-01",
      "from: 2026-12-31",
      'the first window of "first brown-outs" was published as 2027-01-01, and is 2026-12-31 now',
    ],
  ])("is not shortened from %j to %j", (before, after, problem) => {
    const text = WHOLE.replace(before, after);
    expect(text).not.toBe(WHOLE);
    expect(problemsOf(text)).toEqual([]);
    // The line of the date, also where its scope has changed.
    const date = before.startsWith("    routes") ? "end: 2027-03-01" : after;
    const line = text.slice(0, text.indexOf(date)).split("\n").length;
    expect(withPublished(text)).toContainEqual(`AG_SUNSET_SHORTENED ${line}: ${problem}`);
  });
});

describe("the first window that was published for a client", () => {
  const ALLOW = "allow: { billing: 2027-03-01 }";
  const FIELD = `  - { field: book.title, brown_out: "0 1 * * *", for: 1h, from: 2027-02-10 }`;
  const PLAN = `announced: 2026-10-01
end: 2027-03-31
stages:
  - { name: early, brown_out: "0 10 * * 1", for: 1h, from: 2027-01-01, clients: [reports] }
  - { brown_out: "0 10 * * 1", for: 2h, from: 2027-02-01 }
${ALLOW}
`;
  const ONLY_REPORTS = PLAN.replace(/^.*for: 2h.*\n/m, "");
  const changesOf = (text: string, context: Partial<PlanContext> = {}): string[] =>
    problemsOf(text, { published: read(PLAN).dates, ...context });

  test.each([
    [
      "in a plan that no longer allows the client",
      PLAN.replace(ALLOW, ""),
      "5: the first window for billing was published as 2027-03-01, and is 2027-02-01 now",
    ],
    [
      "in a stage that is for all clients now",
      PLAN.replace(", clients: [reports]", ""),
      "4: the first window was published as 2027-02-01, and is 2027-01-01 now",
    ],
    [
      "in a stage that is for clients now which had no window",
      ONLY_REPORTS.replace(", clients: [reports]", ""),
      "4: the first window was published for other clients or routes only, and is 2027-01-01 now",
      ONLY_REPORTS,
    ],
    [
      "in a stage with another length, and so another name",
      PLAN.replace("for: 2h, from: 2027-02-01", "for: 3h, from: 2027-01-15"),
      "5: the first window was published as 2027-02-01, and is 2027-01-15 now",
    ],
    [
      "in a new stage for a client that was allowed until later",
      PLAN.replace(ALLOW, FIELD),
      "6: the first window without book.title for billing was published as 2027-03-01, and is 2027-02-10 now",
    ],
  ])("is not earlier %s", (_what, text, problem, before = PLAN) => {
    expect(problemsOf(text)).toEqual([]);
    expect(changesOf(text, { published: read(before).dates })).toContainEqual(
      `AG_SUNSET_SHORTENED ${problem}`,
    );
  });

  test.each([
    ["later", PLAN.replace("2027-01-01", "2027-01-15")],
    ["that of a stage with another name", PLAN.replace("for: 2h", "for: 4h")],
    [
      "one for a client that had none, in a stage of its own",
      PLAN.replace(/^.*name: early.*\n/m, ""),
      ONLY_REPORTS,
    ],
    ["followed by windows that leave a field out", PLAN.replace(ALLOW, `${FIELD}\n${ALLOW}`)],
  ])("may be %s", (_what, text, before = PLAN) => {
    expect(changesOf(text, { published: read(before).dates })).toEqual([]);
  });

  test("is that of windows which are still to come", () => {
    const over = PLAN.replace("2027-01-01, clients: [reports]", "2027-01-01, until: 2027-01-10");
    const text = over.replace("for: 2h, from: 2027-02-01", "for: 3h, from: 2027-01-15");
    const published = read(over).dates;
    expect(changesOf(text, { published, time: Date.parse("2027-01-05") })).toEqual([]);
    expect(changesOf(text, { published, time: Date.parse("2027-01-12") })).toEqual([
      "AG_SUNSET_SHORTENED 5: the first window was published as 2027-02-01, and is 2027-01-15 now",
    ]);
  });

  test("is no promise any more once it has been", () => {
    const text = PLAN.replace(ALLOW, "");
    expect(changesOf(text, { time: Date.parse("2027-02-28") })).toHaveLength(1);
    expect(changesOf(text, { time: Date.parse("2027-03-01") })).toEqual([]);
  });
});
