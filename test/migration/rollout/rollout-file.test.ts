/** The file of `ROLLOUT_FILE`: its problems, with codes and lines, and its defaults. */
import { expect, test } from "@jest/globals";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { problemsIn } from "../../support/operator-file.ts";
import { rolloutFile } from "../../../src/migration/rollout/file.ts";
import type { RolloutConfig } from "../../../src/migration/rollout/rules.ts";

const DIRECTORY = parseOperatorFile(
  { file: "clients.yaml", text: "billing: {}\nreports: {}\n" },
  CLIENTS_FILE,
);

const read = (text: string): RolloutConfig =>
  parseOperatorFile(
    { file: "rollout.yaml", text },
    rolloutFile(() => ({ routes: ["GET /books", "POST /books"], directory: DIRECTORY })),
  );

const problemsOf = (text: string): string[] => problemsIn(() => read(text));

test("a whole file is valid", () => {
  const config = read(`data: shared
compare:
  share: 2.5%
  per_second: 5
  memory: 16mb
  client_share: 5%
  skip: [GET /books]
waves:
  first: [billing]
  second: [reports]
new:
  - waves: [first]
  - clients: [reports]
    routes: [GET /books]
  - share: 10%
turn_back:
  differences: 3
  within: 50
salt: november
`);
  expect(config).toEqual({
    data: { kind: "shared" },
    compare: {
      share: 250,
      perSecond: 5,
      memoryBytes: 16 * 1024 ** 2,
      clientShare: 0.05,
      skippedRoutes: new Set(["GET /books"]),
    },
    rules: [
      {
        why: "all clients",
        clients: new Map([["billing", "wave first"]]),
        share: undefined,
        routes: undefined,
      },
      {
        why: "all clients",
        clients: new Map([["reports", "named in the file"]]),
        share: undefined,
        routes: new Set(["GET /books"]),
      },
      { why: "10% of the clients", clients: undefined, share: 1000, routes: undefined },
    ],
    turnBack: { differences: 3, within: 50 },
    salt: "november",
  });
});

test("the owner of the data is required; all other keys have a default, and no client is moved", () => {
  expect(problemsOf("waves: {}")).toEqual([expect.stringContaining('the key "data" is missing')]);
  expect(read("data: shared")).toEqual({
    data: { kind: "shared" },
    compare: {
      share: 1000,
      perSecond: 20,
      memoryBytes: 32 * 1024 ** 2,
      clientShare: 0.1,
      skippedRoutes: new Set(),
    },
    rules: [],
    turnBack: { differences: 4, within: 85 },
    salt: "rollout",
  });
});

test("copies of the data have a lag", () => {
  expect(read("data: { replicated: 2s }").data).toEqual({ kind: "replicated", lagMs: 2000 });
  expect(read("data: { replicated: 500ms }").data).toEqual({ kind: "replicated", lagMs: 500 });
});

test("new: all gives every client the translation", () => {
  expect(read("data: shared\nnew: all").rules).toEqual([
    { why: "all clients", clients: undefined, share: undefined, routes: undefined },
  ]);
});

test.each([
  ["data: copied", 'AG_FILE_INVALID 1: "copied" is not allowed here'],
  ["data: { replicated: 2 }", "AG_FILE_INVALID 1"],
  ["data: { replicated: 11m }", "AG_ROLLOUT_BOUND 1: 11m is longer than ten minutes"],
  [
    "data: shared\nnew: [{ clients: [biling] }]",
    'AG_ROLLOUT_UNKNOWN_CLIENT 2: CLIENTS_FILE has no client "biling"',
  ],
  [
    "data: shared\nwaves: { first: [biling] }",
    'AG_ROLLOUT_UNKNOWN_CLIENT 2: CLIENTS_FILE has no client "biling"',
  ],
  ["data: shared\nnew: [{ waves: [frist] }]", 'AG_ROLLOUT_UNKNOWN_WAVE 2: the file has no wave "frist"'],
  [
    "data: shared\nnew: [{ routes: [GET /boks] }]",
    'AG_ROLLOUT_UNKNOWN_ROUTE 2: the pack has no route "GET /boks"',
  ],
  [
    "data: shared\ncompare: { skip: [GET /boks] }",
    'AG_ROLLOUT_UNKNOWN_ROUTE 2: the pack has no route "GET /boks"',
  ],
  ["data: shared\nnew: [{}]", "AG_ROLLOUT_RULE 2: the rule names no client"],
  [
    "data: shared\nnew: [{ clients: [billing], share: 10% }]",
    "AG_ROLLOUT_RULE 2: a rule names clients, or a share of all clients",
  ],
  [
    "data: { replicated: 2s }\nnew: [{ routes: [GET /books] }]",
    "AG_ROLLOUT_DATA 2: with data: replicated a client is on one side with all its routes",
  ],
  ["data: shared\ncompare: { share: 101% }", "AG_FILE_INVALID 2"],
  ["data: shared\nnew: some", "AG_FILE_INVALID 2"],
  ["data: shared\ncompare: { memory: 0mb }", "AG_ROLLOUT_BOUND 2: 0mb is not from 1mb to 256mb"],
  ["data: shared\ncompare: { per_second: 0 }", "AG_FILE_INVALID 2: must be at least 1"],
  ["data: shared\nturn_back: { within: 3 }", "AG_ROLLOUT_BOUND 2: it must be from 4 to 124"],
  ["data: shared\nturn_back: { within: 300 }", "AG_ROLLOUT_BOUND 2: it must be from 4 to 124"],
  ["data: shared\nclients: {}", 'AG_FILE_INVALID 2: unknown key "clients"'],
])("%j is a problem", (text, problem) => {
  expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
});
