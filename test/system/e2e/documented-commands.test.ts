/** Executes the shell commands of the README, of the guides and of the reference, as a reader would paste them. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { blocksOf, partMatcherOf } from "./guide-steps.ts";
import { PROGRAM, REPOSITORY, run, serve, type Serving } from "./program.ts";

const execute = promisify(execFile);

const markdownIn = (folder: string): string[] =>
  readdirSync(join(REPOSITORY, folder)).flatMap((name) => (name.endsWith(".md") ? [join(folder, name)] : []));

const PAGES = [
  "README.md",
  "mappings/README.md",
  // The steps of these build on one another: write-a-pack.test.ts and guides.test.ts.
  ...markdownIn("docs/guide").filter((page) => !/(?:write-a-pack|migrate-clients|roll-out)\.md$/.test(page)),
  ...markdownIn("docs/reference"),
];

/** Commands that a test cannot run as they are written, and why. */
const NOT_EXECUTED: readonly (readonly [text: string, reason: string])[] = [
  ["npm ci && npm start", "the tests run after npm ci; the gateway that they use is started by serve"],
  ["dist/main.js serve", "builds, and does not end: test/system/e2e/dockerfile.test.ts"],
  ["/oauth/token/expire", "needs a token of a sign-in: test/gateway/oauth/flow.test.ts"],
  ["PASTE-IT-HERE", "needs a browser: test/system/e2e/oauth.test.ts"],
  ["--legacy-url https://old.example.com", "needs an old service: test/system/e2e/observe.test.ts"],
  [
    "/api/sunset/pause",
    "needs a plan, which would end the other commands one day: test/system/e2e/sunset.test.ts",
  ],
];

interface Block {
  readonly page: string;
  readonly command: string;
  /** The lines that the page shows below; undefined if it shows none. */
  readonly output: string | undefined;
}

/** Every `sh` block, with the `text` block after it where only prose is between the two. */
function commandsOf(page: string): Block[] {
  const blocks = blocksOf(page);
  return blocks.flatMap(([language, command], index) => {
    const [next, output] = blocks[index + 1] ?? [];
    if (language !== "sh" || NOT_EXECUTED.some(([part]) => command.includes(part))) return [];
    return [{ page, command, output: next === "text" ? output : undefined }];
  });
}

const blocks = PAGES.flatMap(commandsOf);
const startsGateway = ({ command }: Block): boolean => command.includes("npm start");

let folder = "";
let gateway: Serving;

/** Writes the files that a page shows. One that it shows in parts is all of them. */
function writeFilesOf(page: string, target: string): void {
  const guide = readFileSync(join(REPOSITORY, page), "utf8");
  const files = new Map<string, string>();
  for (const [, name = "", text = ""] of guide.matchAll(/```yaml\n *# ([^\s,]+\.yaml).*\n([\s\S]*?)```/g))
    files.set(name, (files.get(name) ?? "") + text);
  for (const [name, text] of files) {
    const path = join(target, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** A folder like a checkout, so that files which the commands write stay out of the repository. */
function checkoutCopy(): string {
  const copy = temporaryFolder();
  for (const name of ["bin", "src", "node_modules", "test", "package.json"])
    symlinkSync(join(REPOSITORY, name), join(copy, name));
  cpSync(join(REPOSITORY, "mappings"), join(copy, "mappings"), { recursive: true });
  writeFilesOf("mappings/README.md", join(copy, "mappings"));
  return copy;
}

/** The addresses of the gateway of this test in place of those of the page. */
const withAddresses = (text: string): string =>
  text.replaceAll("http://127.0.0.1:8080", gateway.url).replaceAll("http://127.0.0.1:8081", gateway.admin);

beforeAll(async () => {
  folder = checkoutCopy();
  mkdirSync(join(folder, "data"));
  gateway = await serve(join(folder, "data"), { cwd: folder });
}, 60_000);

describe("documented commands", () => {
  test.each(blocks.filter((block) => !startsGateway(block)))(
    "$page: $command",
    async ({ command, output }) => {
      const { stdout } = await execute("bash", ["-euo", "pipefail", "-c", withAddresses(command)], {
        cwd: folder,
        env: { PATH: `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`, HOME: folder },
        maxBuffer: 64 * 2 ** 20,
      });
      expect(stdout).not.toContain('{"errors"');
      expect(stdout.replaceAll("\r", "")).toMatch(partMatcherOf(withAddresses(output ?? "")));
    },
    120_000,
  );

  test.each(blocks.filter(startsGateway))(
    "$page starts a gateway: $command",
    async ({ command }) => {
      const start = `exec ${process.execPath} ${PROGRAM} serve`;
      const script = command.replace("npm start", start).replace("my-pack", "examples/library/pack");
      const started = run([], {
        script: [],
        within: ["bash", "-c", script, "--"],
        cwd: folder,
        env: {
          PORT: "0",
          ADMIN_PORT: "0",
          DATA_DIR: temporaryFolder(),
          UPSTREAM_TIMEOUT_MS: "500",
          LOG_LEVEL: "fatal",
        },
      });
      const [printed] = await started.waitForOutput(/^Gateway +http/m);
      expect(printed).toBeDefined();
    },
    120_000,
  );
});
