/** `alpha-gateway init` at a terminal: `script` gives it one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { describeWith } from "../../support/services.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { PROGRAM, REPOSITORY } from "../e2e/program.ts";

/** Something to type, and the text on the screen that it waits for. */
type Typed = readonly [after: string, text: string];

const CTRL_C = "\u0003";

/** Runs `init` in a pseudo-terminal, and types. @returns the exit code, and all that was on the screen */
async function initAtTerminal(
  folder: string,
  flags: string,
  typed: readonly Typed[],
): Promise<{ code: number | null; screen: string }> {
  const command = `'${process.execPath}' '${PROGRAM}' init '${folder}' ${flags}`;
  const terminal = spawn("script", ["-qefc", command, "/dev/null"], { cwd: REPOSITORY });
  let screen = "";
  let read = 0;
  let next = 0;
  terminal.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
    for (let entry = typed[next]; entry; entry = typed[next]) {
      const at = screen.indexOf(entry[0], read);
      if (at < 0) return;
      read = at + entry[0].length;
      next += 1;
      terminal.stdin.write(entry[1]);
    }
  });
  const [code] = (await once(terminal, "close")) as [number | null];
  return { code, screen };
}

const describe = await describeWith("script");

describe("init at a terminal", () => {
  test("asks five questions; empty input accepts the proposed value", async () => {
    const folder = join(temporaryFolder(), "new");
    const { code, screen } = await initAtTerminal(folder, "", [
      ["called? [book] ", "reader\r"],
      ["old API has the list? [/v1/books] ", "/readers\r"],
      ["new API has the list? [/api/items] ", "\r"],
      ["[Bearer] ", "none\r"],
      ["[id,title=name] ", "nr=id, name\r"],
    ]);
    expect([code, screen]).toEqual([0, expect.stringContaining("1 example passed")]);
    const resource = readFileSync(join(folder, "reader.yaml"), "utf8");
    expect(resource).toContain("nr: id\n  name: name\n");
    expect(resource).toContain("client: GET /readers, scope: public, upstream: GET /items");
  });

  test("repeats a question with its rule after invalid input", async () => {
    const folder = join(temporaryFolder(), "new");
    const { code, screen } = await initAtTerminal(folder, "--scheme none --fields id", [
      ["[book] ", "My Book\r"],
      ["Use up to 60 lower-case letters, digits and _, and not pack or surface.", "tome\r"],
      ["[/v1/books] ", "\r"],
      ["[/api/items] ", "\r"],
    ]);
    expect([code, existsSync(join(folder, "tome.yaml"))]).toEqual([0, true]);
    expect(screen).not.toContain("[Bearer]");
  });

  test("accepts input that is pasted all at once", async () => {
    const folder = join(temporaryFolder(), "new");
    const { code } = await initAtTerminal(folder, "", [["[book] ", "tome\r/tomes\r/rows\rBearer\rid\r"]]);
    expect([code, readFileSync(join(folder, "tome.yaml"), "utf8")]).toEqual([
      0,
      expect.stringContaining("client: GET /tomes, scope: token, upstream: GET /rows"),
    ]);
  });

  test("writes nothing if it is interrupted", async () => {
    const folder = join(temporaryFolder(), "new");
    const { code, screen } = await initAtTerminal(folder, "", [
      ["[book] ", "tome\r"],
      ["[/v1/books] ", CTRL_C],
    ]);
    expect([code, existsSync(folder)]).toEqual([1, false]);
    expect(screen).toContain("the input ended before the last question; nothing was written");
  });
});
