/** `docs/agents/write-a-pack.md`: each step gives what the page shows. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { runCommandLine } from "../../src/app/cli/program.ts";
import { captureCommands } from "../support/command-output.ts";

const printed = captureCommands();
const page = readFileSync("docs/agents/write-a-pack.md", "utf8");
const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
  ([, language = "", text = ""]) => [language, text] as const,
);

/** `...` stands for any text. */
const matcherOf = (output: string): RegExp =>
  new RegExp(
    output
      .trim()
      .split("...")
      .map((part) => RegExp.escape(part.trim()))
      .join("[^]*"),
  );

/** The arguments of a command. */
const wordsOf = (command: string): string[] =>
  [...command.trim().matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");

test("each step gives what the page shows", async () => {
  const top = mkdtempSync(join(tmpdir(), "agents-"));
  const place = (text: string): string => text.replaceAll("shipyard", join(top, "shipyard"));
  let steps = 0;
  try {
    for (const [index, [language, text]] of blocks.entries()) {
      const [, file] = /^# (\S+)\n/.exec(text) ?? [];
      if (language === "yaml" && file !== undefined) {
        mkdirSync(dirname(place(file)), { recursive: true });
        writeFileSync(place(file), text);
      }
      if (language !== "sh") continue;
      const [npx, program, ...args] = wordsOf(place(text));
      expect([npx, program]).toEqual(["npx", "alpha-gateway"]);
      const before = printed().length;
      await runCommandLine(args);
      expect(printed().slice(before)).toMatch(matcherOf(place(blocks[index + 1]?.[1] ?? "")));
      steps += 1;
    }
  } finally {
    rmSync(top, { recursive: true });
  }
  expect(steps).toBe(4);
});

test("has at most 150 lines", () => expect(page.split("\n").length).toBeLessThanOrEqual(151));
