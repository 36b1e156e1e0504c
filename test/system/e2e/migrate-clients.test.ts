/** `docs/guide/migrate-clients.md` from the first call to status 410, as a reader would do it. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { blocksOf, matcherOf } from "./guide-steps.ts";
import { PROGRAM, REPOSITORY, run, type Program, type Serving } from "./program.ts";

const execute = promisify(execFile);

/** How long a reader repeats a command. */
const PATIENCE_MS = 30_000;

const blocks = blocksOf("docs/guide/migrate-clients.md");

/** A folder like a clone of the repository, with a port for the receiver of notices. */
async function createClone(): Promise<string> {
  const folder = temporaryFolder();
  for (const name of ["mappings", "examples/migration"])
    cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true });
  const port = String(await freePort());
  for (const name of ["notices.yaml", "receiver.mjs"]) {
    const file = join(folder, "examples/migration", name);
    writeFileSync(file, readFileSync(file, "utf8").replace("9000", port));
  }
  return folder;
}

/** The two terminals of the reader: one has the gateway, and the other one everything else. */
class Terminals {
  readonly #folder: string;
  /** What the reader has set in both. */
  #settings = `npx() { shift; '${process.execPath}' '${PROGRAM}' "$@"; }\n`;
  #gateway: Serving | undefined;
  /** How often the gateway was started. */
  starts = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  set(settings: string): void {
    this.#settings += settings;
  }

  /** Executes commands that end. @returns their output */
  async execute(commands: string): Promise<string> {
    const script = `${this.#settings}${commands}`
      .replaceAll("http://127.0.0.1:8080", this.#gateway?.url ?? "")
      .replaceAll("http://127.0.0.1:8081", this.#gateway?.admin ?? "");
    const { stdout } = await execute("bash", ["-euo", "pipefail", "-c", script], {
      cwd: this.#folder,
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
    });
    return stdout.replaceAll("\r", "");
  }

  /**
   * The same until they print what they should, or for too long: a saved file is in use after a moment.
   *
   * @returns the last output
   * @throws {Error} if they fail
   */
  async executeUntil(expected: RegExp, commands: string): Promise<string> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        const shown = await this.execute(commands);
        if (expected.test(shown) || Date.now() > end) return shown;
      } catch (error) {
        if (Date.now() > end) throw error;
      }
    }
  }

  /** Ctrl+C in the first terminal, if the gateway runs there, and then its start. */
  async serve(commands: string): Promise<void> {
    this.#gateway?.signal("SIGINT");
    await this.#gateway?.ended;
    const program = this.#run(commands.replace("npx alpha-gateway serve", 'exec "$@" serve'), PROGRAM);
    const [, url = "", admin = ""] = await program.waitForOutput(
      /^Gateway +(\S+)\nAdmin +(\S+)\n[^]*^Ready\./m,
    );
    this.#gateway = { ...program, url, admin };
    this.starts += 1;
  }

  /** Starts what the line of a shell leaves in the background. */
  startInBackground(line: string): void {
    const [, script = "", output = ""] = /^node (\S+) > (\S+) &$/.exec(line) ?? [];
    this.#run(`exec "$@" > ${output}`, script);
  }

  #run(commands: string, script: string): Program {
    return run([], {
      script: [script],
      within: ["bash", "-euo", "pipefail", "-c", this.#settings + commands, "bash"],
      cwd: this.#folder,
      env: { PORT: "0", ADMIN_PORT: "0", LOG_LEVEL: "fatal", SHUTDOWN_GRACE_MS: "400" },
    });
  }
}

test("each step of the guide gives what the page shows", async () => {
  const terminals = new Terminals(await createClone());
  const outputs: [shown: string, expected: RegExp][] = [];
  for (const [index, [language, text]] of blocks.entries()) {
    if (language !== "sh") continue;
    const [, background = ""] = /^(.* &)$/m.exec(text) ?? [];
    const commands = text.replace(background, "");
    const [next, output = ""] = blocks[index + 1] ?? [];
    const expected = next === "text" ? matcherOf(output) : /^/;
    if (background !== "") terminals.startInBackground(background);
    if (text.startsWith("export ")) terminals.set(text);
    else if (text.includes(" serve\n")) await terminals.serve(text);
    else {
      const shown = await terminals.executeUntil(expected, commands);
      outputs.push([shown, expected]);
      if (!expected.test(shown)) break;
    }
  }
  for (const [shown, expected] of outputs) expect(shown).toMatch(expected);
  expect(outputs.length).toBeGreaterThan(10);
  expect(terminals.starts).toBe(2);
}, 300_000);
