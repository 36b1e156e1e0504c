/** Texts of clients, of v4 and of arguments reach a terminal without what would act on it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { describeWith } from "../../support/services.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY, run } from "../e2e/program.ts";

/** ESC, CSI in one byte of C1, a bell, and a mark that reverses the text after it. */
const HOSTILE = "\u001b[2J\u009b2J\u0007\u202e";

/** A record whose replay differs in a member that has a hostile name. */
function hostileRecord(id: string): AuditRecord {
  const sample = sampleRecord(id, { route: "GET /dns/zones" });
  return {
    ...sample,
    client: { ...sample.client, userAgent: `agent ${HOSTILE}` },
    alpha: {
      ...sample.alpha,
      path: "/v4/dns/zones",
      query: `a=${HOSTILE}`,
      response: {
        dnszones: [],
        page: 1,
        total_pages: 1,
        total_results: 0,
        [`x${HOSTILE}\n0 changed`]: HOSTILE,
      },
    },
    v4: [
      {
        method: "GET",
        path: "/v4/domains?page=1&page_size=25",
        filter: null,
        status: 200,
        response: { data: [], page: 1, pages: 1, results: 0 },
        ms: 1,
      },
    ],
  };
}

async function stored(record: AuditRecord): Promise<string> {
  const directory = temporaryFolder();
  const store = await openSqliteStore({
    directory,
    durability: "strict",
    retentionDays: 36_500,
    sizeLimit: 1e12,
  });
  await store.append(record);
  await store.close();
  return directory;
}

/** Everything except line breaks that acts on a terminal. */
const ACTS = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

describe("no output acts on a terminal", () => {
  test("of replay, whose lines are one for each difference", async () => {
    const from = join(temporaryFolder(), "audit.ndjson");
    writeFileSync(from, `${JSON.stringify(hostileRecord("one"))}\n`);
    const { out, code } = await run(["replay", "--from", from]).ended;
    expect(out).not.toMatch(ACTS);
    expect(out).toContain(String.raw`response.x\u001b[2J\u009b2J\u0007\u202e\u000a0 changed: `);
    expect(out).not.toMatch(/^0 changed/m);
    expect(code).toBe(1);
  });

  test.each([
    [["explain", `GET /vm/instances/${HOSTILE}?a=${HOSTILE}`]],
    [["explain", "GET /vm/instances", "-H", `X-Filter: {"label":"${HOSTILE}"}`]],
    [["check", `/no/${HOSTILE}`]],
    [["replay", "--from", `/no/${HOSTILE}`]],
    [["export", "--format", HOSTILE]],
    [["serve", `--${HOSTILE}`]],
    [[HOSTILE]],
  ])("of %j", async (args) => {
    const { out, err } = await run(args).ended;
    expect(out + err).not.toBe("");
    expect(out + err).not.toMatch(ACTS);
  });
});

const describeTerminal = await describeWith("script");

describeTerminal("formats for programs", () => {
  const onTerminal = async (args: string): Promise<string> => {
    const command = `${process.execPath} ${join(REPOSITORY, "src", "main.ts")} ${args}`;
    const terminal = run([], {
      script: [],
      within: ["bash", "-c", `exec script -qefc '${command} 2>&1' /dev/null`, "--"],
    });
    return (await terminal.ended).out.replaceAll("\r\u001b[K", "").replaceAll(/\r+\n/g, "\n");
  };

  test("are escaped on a terminal, and written as they are to a file", async () => {
    const folder = await stored(hostileRecord("00000000000000000000000001"));
    for (const command of ["export", "export --format csv", "export --format har", "report --format html"]) {
      const args = `${command} --data-dir ${folder}`;
      expect(await onTerminal(args)).not.toMatch(ACTS);
      const { out } = await run(args.split(" ")).ended;
      expect(out).toMatch(/\u202e/);
    }
  });

  test("are not Markdown, which people read: it is escaped in a file, too", async () => {
    const folder = await stored(hostileRecord("00000000000000000000000001"));
    const { out } = await run(["report", "--data-dir", folder]).ended;
    expect(out).toContain("u202e");
    expect(out).not.toMatch(ACTS);
  });

  test("that are compressed are refused on a terminal", async () => {
    const folder = await stored(hostileRecord("00000000000000000000000001"));
    expect(await onTerminal(`export --format ndjson.zst --data-dir ${folder}`)).toContain(
      "is not for a terminal",
    );
  });
});
