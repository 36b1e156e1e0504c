/** `alpha-gateway clients`, in this process, with a store of its own. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { sampleRecord } from "../record/sample-record.ts";
import { UNLIMITED } from "../store/store-contract.ts";

let folder: string;
const printed = captureCommands();
beforeEach(async () => {
  folder = temporaryFolder();
  await writeFile(join(folder, "clients.yaml"), 'Billing:\n  tokens: ["0000000000000001"]\n');
  const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
  await store.append(sampleRecord("a", { client: "0000000000000001" }));
  await store.append(sampleRecord("b", { client: "0000000000000002", agent: "sync\u001b[2J/3 (linux)" }));
  await store.append(sampleRecord("c", { client: "0000000000000003", agent: "billing/2" }));
  await store.append(sampleRecord("d", { client: "0000000000000004", agent: "billing/3" }));
  await store.append(sampleRecord("e", { client: "0000000000000005", application: "app: 1" }));
  await store.append(sampleRecord("f", { client: null }));
  await store.close();
});

const list = (...flags: string[]) =>
  runCommandLine([
    "clients",
    ...flags,
    `--data-dir=${folder}`,
    `--clients-file=${join(folder, "clients.yaml")}`,
  ]);

test("lists the clients without a name, but no requests without a client", async () => {
  expect(await list()).toBe(0);
  expect(
    printed()
      .match(/\b0{15}\d\b|application:app: 1/g)
      ?.toSorted(),
  ).toEqual(["0000000000000002", "0000000000000003", "0000000000000004", "application:app: 1"]);
  expect(printed()).toContain("silent");
  expect(printed()).not.toContain("\u001b");
});

test("shows all programs of a client that has one token", async () => {
  const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
  const time = "2026-03-02T10:00:00.000Z";
  await store.append(sampleRecord("g", { client: "0000000000000003", agent: "reports/1", time }));
  await store.close();
  expect(await list()).toBe(0);
  expect(printed()).toContain("0000000000000003    reports/1, billing/2");
});

test("says which clients called alpha again after they had been ready", async () => {
  const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
  const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
  const client = "0000000000000006";
  await store.append(sampleRecord("g", { client, time: daysAgo(30) }));
  await store.append(sampleRecord("h", { client, time: daysAgo(15), lane: "native" }));
  await store.append(sampleRecord("i", { client, time: daysAgo(0) }));
  await store.close();
  expect(await list()).toBe(0);
  const lines = printed().split("\n");
  expect(lines.filter((line) => line.includes("came back"))).toEqual([
    expect.stringMatching(
      new RegExp(
        `^ +3 {2}moving .* ${client} .* {2}came back on ${daysAgo(0).slice(0, 10)} {2}paused for (?:29|30) days before$`,
      ),
    ),
  ]);
});

test("prints a directory that can be read, in which no name is that of another client", async () => {
  expect(await list("--format=yaml")).toBe(0);
  const { clients } = parseOperatorFile({ file: "clients.yaml", text: printed() }, CLIENTS_FILE);
  const found = clients.map(({ name, tokens, applications }) => [name, tokens.toSorted(), applications]);
  expect(found.toSorted((one, other) => String(one[0]).localeCompare(String(other[0])))).toEqual([
    ["app- 1", [], ["app: 1"]],
    ["billing-2", ["0000000000000003", "0000000000000004"], []],
    ["sync-2J", ["0000000000000002"], []],
  ]);
});

test.each([
  ["Billing", ["a"]],
  ["0000000000000002", ["b"]],
  ["application:app: 1", ["e"]],
])("export has the records of one client: %s", async (client, ids) => {
  const flags = ["--format=ndjson", `--client=${client}`, "--lane=alpha", "--mappings-dir=mappings"];
  await runCommandLine([
    "export",
    ...flags,
    `--data-dir=${folder}`,
    `--clients-file=${join(folder, "clients.yaml")}`,
  ]);
  const lines = printed()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids);
});
