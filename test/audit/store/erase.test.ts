/** `alpha-gateway audit erase`, in this process, with a store of its own. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { setTimeout as wait } from "node:timers/promises";
import { mergeRejections } from "../../../src/audit/store/merge-rejections.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { sampleRecord } from "../record/sample-record.ts";
import { UNLIMITED } from "./store-contract.ts";

let folder: string;
const printed = captureCommands();
beforeEach(async () => {
  folder = temporaryFolder();
  await writeFile(
    join(folder, "clients.yaml"),
    "Billing:\n  applications: [app]\n  user_agents: [billing-sync/*]\n",
  );
  const store = await open();
  await store.append(sampleRecord("a", { client: "0000000000000001", application: "app" }));
  await store.append(sampleRecord("b", { client: "0000000000000002", agent: "billing-sync/3" }));
  await store.append(sampleRecord("c", { client: "0000000000000003", label: "Billing" }));
  await store.append(sampleRecord("d", { client: "0000000000000004" }));
  await store.close();
});

const open = () => openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
const erase = (client: string) =>
  runCommandLine([
    "audit",
    "erase",
    `--client=${client}`,
    `--data-dir=${folder}`,
    `--clients-file=${join(folder, "clients.yaml")}`,
  ]);
async function idsLeft(): Promise<string[]> {
  const store = await open();
  const { records } = await store.query({});
  await store.close();
  return records.map(({ id }) => id).toSorted();
}

test("a name of the directory is erased with its applications, labels and user agents", async () => {
  expect(await erase("Billing")).toBe(0);
  expect(printed()).toContain("Erased 3 records, 3 rows of summaries and 3 tokens of Billing.");
  expect(await idsLeft()).toEqual(["d"]);
});

test.each([
  ["application:app", ["b", "c", "d"]],
  ["label:Billing", ["a", "b", "d"]],
  ["0000000000000004", ["a", "b", "c"]],
])("the key %s is erased without a directory", async (key, left) => {
  expect(await erase(key)).toBe(0);
  expect(await idsLeft()).toEqual(left);
});

test("an erasure is in the list of erasures, with the command and the numbers, and without the client", async () => {
  await erase("Billing");
  const store = await open();
  expect(await store.erasures()).toEqual([
    { time: expect.any(String), command: "audit erase", records: 3, summaries: 3, tokens: 3 },
  ]);
  await store.close();
});

test("any other text is an error that repeats it, and erases nothing", async () => {
  expect(await erase("Nobody")).toBe(1);
  expect(printed()).toContain('AG_USAGE: --client "Nobody" is neither a name of CLIENTS_FILE nor a key');
  expect(await idsLeft()).toEqual(["a", "b", "c", "d"]);
});

test("rejected requests of before the erasure, which wait for their common record, do not come back", async () => {
  const windowMs = 1500;
  const store = mergeRejections(await open(), { networkOf: (address) => address, windowMs });
  const reject = async (id: string): Promise<void> => {
    const record = sampleRecord(id, { client: "0000000000000005", status: 429, accepted: true });
    await store.append({ ...record, rejectedBy: "limit", v4: [] });
  };
  for (const id of ["e", "f", "g"]) await reject(id);
  expect(await erase("0000000000000005")).toBe(0);
  await wait(windowMs + 200);
  const { records } = await store.query({ client: "0000000000000005" });
  await store.close();
  expect(records).toEqual([]);
});
