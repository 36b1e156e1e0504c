/** The commands that `explain` prints, as a shell reads them. */
import { describe, expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { createCommandRunner } from "../../support/command-output.ts";

const run = createCommandRunner();
/** The arguments of each printed curl command after `-g`, as a shell parses them. */
function pasted(printed: string): string[][] {
  const script = `V4=https://v4.example TOKEN=t; curl() { shift; printf '%s\\0' "$@"; printf '\\0'; }\n${printed}`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout
    .split("\0\0")
    .slice(0, -1)
    .map((words) => words.split("\0"));
}

const AUTHORISED = ["-H", "Authorization: Bearer t"];
const JSON_BODY = ["-H", "Content-Type: application/json", "--data-raw"];

describe("explain prints commands for a shell", () => {
  test("for a filter in v4's terms", async () => {
    const { out, code } = await run(
      "explain",
      "GET /vm/instances?page=2",
      "-H",
      `X-Filter: {"group":"it's","datacenter":"newark"}`,
    );
    expect(pasted(out)).toEqual([
      [
        "https://v4.example/v4/vm/instances?page=2&page_size=25",
        ...AUTHORISED,
        "-H",
        `X-Filter: {"group":"it's","region":"us-east"}`,
      ],
    ]);
    expect(code).toBe(0);
  });

  test("for a file and a DELETE", async () => {
    const path = "https://v4.example/v4/account/oauth-clients/abc/thumbnail";
    expect(pasted((await run("explain", "GET /account/clients/abc/thumbnail")).out)).toEqual([
      [path, ...AUTHORISED],
    ]);
    const removal = ["-X", "DELETE", "https://v4.example/v4/vm/instances/5", ...AUTHORISED];
    expect(pasted((await run("explain", "DELETE /vm/instances/5")).out)).toEqual([removal]);
  });

  test("for a body with any characters, with the prerequisite that validates it", async () => {
    const body = {
      datacenter: "newark",
      type: "vm1024.5",
      distribution: "vm/debian8",
      root_pass: "'; rm -rf / #\n$(id)`id`\u001b[2J\u009b",
      stackscript: 5,
    };
    const { out, code } = await run("explain", "POST /vm/instances", "-d", JSON.stringify(body));
    const [before, call, ...more] = pasted(out);
    expect(before).toEqual(["https://v4.example/v4/vm/stackscripts/5", ...AUTHORISED]);
    expect(call?.slice(0, -1)).toEqual([
      "-X",
      "POST",
      "https://v4.example/v4/vm/instances",
      ...AUTHORISED,
      ...JSON_BODY,
    ]);
    expect(JSON.parse(call?.at(-1) ?? "")).toMatchObject({ region: "us-east", root_pass: body.root_pass });
    expect(more).toEqual([]);
    expect(out).not.toMatch(/[^\P{Cc}\n]/u);
    expect(out).toContain('# before the call, to validate "stackscript"');
    expect(out).toContain('# sent again without "label" if v4 rejects only that member');
    expect(code).toBe(0);
  });
});
