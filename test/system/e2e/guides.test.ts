/** Guides whose steps build on one another, from the first to the last one, as a reader would do them. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { freePort } from "../../support/free-port.ts";
import { blocksOf, matcherOf } from "./guide-steps.ts";
import { PROGRAM, REPOSITORY, run, type Program, type Serving } from "./program.ts";

const execute = promisify(execFile);

/** How long a reader repeats a command. */
const PATIENCE_MS = 30_000;

/** The ports of the pages, beside those of the gateway, which takes any. */
const PORTS = { sandbox: "8090", login: "8091", old: "9002" };

/** A folder like a clone of the repository, with a free port for the receiver of notices. */
async function createClone(example: string): Promise<string> {
  const folder = temporaryFolder();
  for (const name of ["mappings", `examples/${example}`])
    cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true });
  const port = String(await freePort());
  for (const name of example === "migration" ? ["notices.yaml", "receiver.mjs"] : []) {
    const file = join(folder, "examples/migration", name);
    writeFileSync(file, readFileSync(file, "utf8").replace("9000", port));
  }
  return folder;
}

/** Waits until something listens at a port. */
async function answers(port: string): Promise<void> {
  const isUp = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  while (!(await isUp())) await wait(50);
}

/** The terminals of the reader: one has the gateway, one the old service, and one everything else. */
class Terminals {
  readonly #folder: string;
  readonly #ports: typeof PORTS;
  /** What the reader has set in all of them. */
  #settings = `npx() { shift; '${process.execPath}' '${PROGRAM}' "$@"; }\n`;
  #gateway: Serving | undefined;
  #oldService: Program | undefined;
  /** How often the gateway and the old service were started. */
  readonly starts = { gateway: 0, oldService: 0 };

  constructor(folder: string, ports: typeof PORTS) {
    this.#folder = folder;
    this.#ports = ports;
  }

  set(settings: string): void {
    this.#settings += settings;
  }

  /** Executes commands until they print what they should, or for too long. @returns the last output */
  async executeUntil(expected: RegExp, commands: string): Promise<string> {
    const end = Date.now() + PATIENCE_MS;
    const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
    for (;;) {
      try {
        const args = ["-euo", "pipefail", "-c", this.#here(commands)];
        const { stdout } = await execute("bash", args, { cwd: this.#folder, env });
        const shown = stdout.replaceAll("\r", "");
        if (expected.test(shown) || Date.now() > end) return shown;
      } catch (error) {
        // A saved file is in use after a moment.
        if (Date.now() > end) throw error;
      }
    }
  }

  /** Ends the gateway, if there is one, and starts it. @returns what it printed until it was ready */
  async serve(commands: string): Promise<string> {
    this.#gateway?.signal("SIGINT");
    await this.#gateway?.ended;
    const program = this.#run(commands.replace("npx alpha-gateway serve", 'exec "$@" serve'), PROGRAM);
    const [welcome, url = "", admin = ""] = await program.waitForOutput(
      /^Gateway +(\S+)\nAdmin +(\S+)\n[^]*^Ready\./m,
    );
    this.#gateway = { ...program, url, admin };
    this.starts.gateway += 1;
    return welcome;
  }

  async startOldService(line: string): Promise<void> {
    this.#oldService?.signal("SIGTERM");
    await this.#oldService?.ended;
    const [, script = "", flags = ""] = /^npx node (\S+)(.*)$/m.exec(line) ?? [];
    const { sandbox, old } = this.#ports;
    this.#oldService = this.#run(
      `UPSTREAM_URL=http://127.0.0.1:${sandbox} exec "$@"${flags} --port ${old}`,
      join(this.#folder, script),
    );
    this.starts.oldService += 1;
    await answers(old);
  }

  /** Starts what a line of a shell leaves in the background: the sandbox, or a script. */
  async startInBackground(line: string): Promise<void> {
    const { sandbox, login } = this.#ports;
    const [, script, output = ""] = /^node (\S+) > (\S+) &$/.exec(line) ?? [];
    if (script !== undefined) {
      this.#run(`exec "$@" > ${output}`, script);
      return;
    }
    this.#run(`exec "$@" sandbox --port ${sandbox} --auth-port ${login}`, PROGRAM);
    await answers(sandbox);
  }

  /** Commands with the addresses of this test. */
  #here(commands: string): string {
    const { url = "", admin = "" } = this.#gateway ?? {};
    return Object.entries(PORTS)
      .reduce(
        (text, [name, port]) => text.replaceAll(`:${port}`, `:${this.#ports[name as keyof typeof PORTS]}`),
        this.#settings + commands,
      )
      .replaceAll("http://127.0.0.1:8080", url)
      .replaceAll("http://127.0.0.1:8081", admin);
  }

  #run(commands: string, script: string): Program {
    return run([], {
      script: [script],
      within: ["bash", "-euo", "pipefail", "-c", this.#here(commands), "bash"],
      cwd: this.#folder,
      env: { PORT: "0", ADMIN_PORT: "0", LOG_LEVEL: "fatal", SHUTDOWN_GRACE_MS: "400" },
    });
  }
}

test.each([
  ["roll-out", "old-service", { gateway: 3, oldService: 3 }],
  ["migrate-clients", "migration", { gateway: 2, oldService: 0 }],
])(
  "each step of docs/guide/%s.md gives what the page shows",
  async (guide, example, starts) => {
    const ports = { ...PORTS };
    for (const name of ["sandbox", "login", "old"] as const) ports[name] = String(await freePort());
    const terminals = new Terminals(await createClone(example), ports);
    const blocks = blocksOf(`docs/guide/${guide}.md`);
    const outputs: [shown: string, expected: RegExp][] = [];
    for (const [index, [language, text]] of blocks.entries()) {
      if (language !== "sh") continue;
      const [next, output = ""] = blocks[index + 1] ?? [];
      const expected = next === "text" ? matcherOf(output) : /^/;
      const [background = ""] = /^.* &$/m.exec(text) ?? [];
      if (background !== "") await terminals.startInBackground(background);
      if (text.startsWith("export ")) terminals.set(text);
      else if (text.startsWith("npx node ")) await terminals.startOldService(text);
      else if (/alpha-gateway serve(?:\s|$)/.test(text))
        outputs.push([await terminals.serve(text), expected]);
      else {
        const shown = await terminals.executeUntil(expected, text.replace(background, ""));
        outputs.push([shown, expected]);
        if (!expected.test(shown)) break;
      }
    }
    for (const [shown, expected] of outputs) expect(shown).toMatch(expected);
    expect(outputs.length).toBeGreaterThan(10);
    expect(terminals.starts).toEqual(starts);
  },
  300_000,
);
