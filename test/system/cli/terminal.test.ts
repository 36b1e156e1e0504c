/** Formats for programs: they are escaped where they are printed on a terminal, which `script` makes. To a file: hostile-output.test.ts. */
import { expect, test } from "@jest/globals";
import { ACTS, FOR_PROGRAMS, hostileRecord } from "../../audit/record/hostile-record.ts";
import { storeRecords } from "../../audit/record/stored-records.ts";
import { describeWith } from "../../support/services.ts";
import { PROGRAM, run } from "../e2e/program.ts";

const describeTerminal = await describeWith("script");

describeTerminal("formats for programs", () => {
  const onTerminal = async (args: string): Promise<string> => {
    const command = `${process.execPath} ${PROGRAM} ${args}`;
    const terminal = run([], {
      script: [],
      within: ["bash", "-c", `exec script -qefc '${command} 2>&1' /dev/null`, "--"],
    });
    return (await terminal.ended).out.replaceAll("\r\u001b[K", "").replaceAll(/\r+\n/g, "\n");
  };

  test("are escaped on a terminal", async () => {
    const folder = await storeRecords(hostileRecord("00000000000000000000000001"));
    for (const command of FOR_PROGRAMS) {
      const printed = await onTerminal(`${command} --data-dir ${folder}`);
      expect(printed).toContain("u202e");
      expect(printed).not.toMatch(ACTS);
    }
  });

  test("that are compressed are refused on a terminal", async () => {
    const folder = await storeRecords(hostileRecord("00000000000000000000000001"));
    expect(await onTerminal(`export --format ndjson.zst --data-dir ${folder}`)).toContain(
      "is not for a terminal",
    );
  });
});
