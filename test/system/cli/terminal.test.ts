/** Formats for programs: they are escaped where they are printed on a terminal, which `script` makes. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ACTS, hostileRecord } from "../../audit/record/hostile-record.ts";
import { storeRecords } from "../../audit/record/stored-records.ts";
import { describeWith } from "../../support/services.ts";
import { REPOSITORY, run } from "../e2e/program.ts";

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
    const folder = await storeRecords(hostileRecord("00000000000000000000000001"));
    for (const command of ["export", "export --format csv", "export --format har", "report --format html"]) {
      const args = `${command} --data-dir ${folder}`;
      expect(await onTerminal(args)).not.toMatch(ACTS);
      const { out } = await run(args.split(" ")).ended;
      expect(out).toMatch(/\u202e/);
    }
  });

  test("that are compressed are refused on a terminal", async () => {
    const folder = await storeRecords(hostileRecord("00000000000000000000000001"));
    expect(await onTerminal(`export --format ndjson.zst --data-dir ${folder}`)).toContain(
      "is not for a terminal",
    );
  });
});
