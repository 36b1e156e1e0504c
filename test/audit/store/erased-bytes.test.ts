/** What `audit erase` leaves in the files of the data folder: not one byte of the client, also where others were written between. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { AUDIT_FILE, openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import { incompressible, sampleRecord } from "../record/sample-record.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { UNLIMITED } from "./store-contract.ts";

const ERASED = "feedfacecafebeef";
const SECOND = "deadbeefcafef00d";
const NAME = "Erased Customer";
const APPLICATION = "erased-application";
/** Texts of the client that stand uncompressed in tables. */
const TEXTS = [ERASED, SECOND, NAME, APPLICATION, "erased-agent/1", "erased-agent/2", "erased-agent/3"];
const KEYS = [ERASED, SECOND, `label:${NAME}`, `application:${APPLICATION}`];
const DAY = Date.UTC(2026, 2, 1);
const DAYS = 3;

let folder: string;
let store: AuditStore;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await store.close();
});

/** Where texts of the client stand in the files: the file, the text, and how often. */
function found(): string[] {
  return readdirSync(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name)).toString("latin1");
    return TEXTS.flatMap((text) => {
      const times = bytes.split(text).length - 1;
      return times === 0 ? [] : [`${name}: ${text} ${times} times`];
    });
  });
}

/** The requests of the client: with a label, of an application, and with a token before and after v4 has accepted it. */
const SENDERS = [
  { client: ERASED, agent: "erased-agent/1", accepted: false, status: 401 },
  { client: ERASED, agent: "erased-agent/1", accepted: true },
  { client: SECOND, agent: "erased-agent/2", accepted: true },
  { client: SECOND, agent: "erased-agent/2", accepted: true, application: APPLICATION },
  { client: ERASED, agent: "erased-agent/3", accepted: true, label: NAME },
];

/** Writes the client's records among those of `others` clients, some in one commit and some alone. */
async function write(rounds: number, others: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const time = new Date(DAY + (round % DAYS) * 86_400_000 + round * 1000).toISOString();
    const own = SENDERS[round % SENDERS.length];
    const record = { ...sampleRecord(`own-${round}`, { ...own, time }), requestId: `own ${round}` };
    const commit = Array.from({ length: others }, async (_, n) =>
      store.append({
        ...sampleRecord(`other-${round}-${n}`, {
          client: (n + round * 7).toString(16).padStart(16, "0"),
          agent: `other/${n}`,
          accepted: n % 3 > 0,
          time,
          route: `GET /route/${n % 11}`,
        }),
        requestId: incompressible(n % 5 === 0 ? 2000 : 20),
      }),
    );
    await Promise.all([...commit, store.append(record)]);
  }
}

const erase = () => store.erase({ keys: KEYS, command: "test" });

describe("after a client is erased", () => {
  test("no file has its name, its tokens or its user agents", async () => {
    store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    await write(150, 12);
    expect(found().length).toBeGreaterThan(TEXTS.length);
    expect(await erase()).toMatchObject({ records: 150 });
    expect(found()).toEqual([]);
    await store.close();
    expect(found()).toEqual([]);
  });

  test("no file has what the limits had deleted before", async () => {
    store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    await write(150, 12);
    await store.close();
    // At its start it deletes the first days, and most of the others.
    const clock = (): number => DAY + 31 * 86_400_000;
    const limits = { retentionDays: 30, usageRetentionDays: 30, sizeLimit: 200_000, summaryRows: 300, clock };
    store = await openSqliteStore({ directory: folder, durability: "strict", ...limits });
    while ((await store.count({})) > 500) await new Promise((done) => setTimeout(done, 20));
    await erase();
    expect(found()).toEqual([]);
  });

  test("the command says so if another process that reads keeps the log from being written", async () => {
    store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    await write(5, 1);
    const other = new DatabaseSync(join(folder, AUDIT_FILE));
    other.exec("BEGIN");
    other.prepare("SELECT count(*) FROM audit_usage").get();
    await expect(erase()).rejects.toThrow("another process reads the store");
    expect(found()).not.toEqual([]);
    other.close();
    await erase();
    expect(found()).toEqual([]);
  });

  test("the records of other clients are unchanged", async () => {
    store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    await write(10, 3);
    const others = (await store.query({ limit: 500 })).records.filter(({ id }) => id.startsWith("other"));
    await erase();
    expect((await store.query({ limit: 500 })).records).toEqual(others);
  });
});
