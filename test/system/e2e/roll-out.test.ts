/** `docs/guide/roll-out.md` from the first observed call to the translation alone, as a reader would do it. */
import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { blocksOf, matcherOf } from "./guide-steps.ts";
import { PROGRAM, REPOSITORY, run, type Program, type Serving } from "./program.ts";

const execute = promisify(execFile);

/** How long a reader repeats a command. */
const PATIENCE_MS = 30_000;

const blocks = blocksOf("docs/guide/roll-out.md");

/** The terminals of the reader: one has the gateway, one the old service, and one everything else. */
class Terminals {
  readonly #folder: string;
  readonly #ports: Readonly<Record<"sandbox" | "login" | "old", number>>;
  #settings = `npx() { shift; '${process.execPath}' '${PROGRAM}' "$@"; }\n`;
  #gateway: Serving | undefined;
  #oldService: Program | undefined;
  /** How often the gateway and the old service were started. */
  readonly starts = { gateway: 0, oldService: 0 };

  constructor(folder: string, ports: Readonly<Record<"sandbox" | "login" | "old", number>>) {
    this.#folder = folder;
    this.#ports = ports;
  }

  set(settings: string): void {
    this.#settings += settings;
  }

  /** Executes commands that end. @returns their output */
  async execute(commands: string): Promise<string> {
    const { stdout } = await execute("bash", ["-euo", "pipefail", "-c", this.#here(commands)], {
      cwd: this.#folder,
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
    });
    return stdout;
  }

  /** The same until they print what they should, or for too long. @returns the last output */
  async executeUntil(expected: RegExp, commands: string): Promise<string> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const shown = await this.execute(commands);
      if (expected.test(shown) || Date.now() > end) return shown;
    }
  }

  /** @returns what the gateway printed until it was ready */
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
    const upstream = `http://127.0.0.1:${this.#ports.sandbox}`;
    this.#oldService = this.#run(
      `UPSTREAM_URL=${upstream} exec "$@"${flags} --port ${this.#ports.old}`,
      join(this.#folder, script),
    );
    this.starts.oldService += 1;
    await this.#answers(this.#ports.old);
  }

  async startSandbox(): Promise<void> {
    const { sandbox, login } = this.#ports;
    this.#run(`exec "$@" sandbox --port ${sandbox} --auth-port ${login}`, PROGRAM);
    await this.#answers(sandbox);
  }

  /** Waits until something listens. */
  async #answers(port: number): Promise<void> {
    for (;;) {
      const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      );
      if (isUp) return;
      await wait(50);
    }
  }

  /** Commands with the ports of this test. */
  #here(commands: string): string {
    const { sandbox, login, old } = this.#ports;
    return `${this.#settings}${commands}`
      .replaceAll("http://127.0.0.1:8080", this.#gateway?.url ?? "")
      .replaceAll("http://127.0.0.1:8090", `http://127.0.0.1:${sandbox}`)
      .replaceAll("http://127.0.0.1:8091", `http://127.0.0.1:${login}`)
      .replaceAll("http://127.0.0.1:9002", `http://127.0.0.1:${old}`);
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

test("each step of the guide gives what the page shows", async () => {
  const folder = temporaryFolder();
  for (const name of ["mappings", "examples/old-service"])
    cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true });
  const [sandbox, login, old] = [await freePort(), await freePort(), await freePort()];
  const terminals = new Terminals(folder, { sandbox, login, old });
  const outputs: [shown: string, expected: RegExp][] = [];
  for (const [index, [language, text]] of blocks.entries()) {
    if (language !== "sh") continue;
    const [next, output = ""] = blocks[index + 1] ?? [];
    const expected = next === "text" ? matcherOf(output) : /^/;
    const background = /^npx alpha-gateway sandbox .*&$/m;
    if (text.startsWith("export ")) terminals.set(text);
    else if (text.startsWith("npx node ")) await terminals.startOldService(text);
    else if (text.startsWith("npx alpha-gateway serve"))
      outputs.push([await terminals.serve(text), expected]);
    else {
      if (background.test(text)) await terminals.startSandbox();
      const shown = await terminals.executeUntil(expected, text.replace(background, ""));
      outputs.push([shown, expected]);
      if (!expected.test(shown)) break;
    }
  }
  for (const [shown, expected] of outputs) expect(shown).toMatch(expected);
  expect(outputs.length).toBeGreaterThan(10);
  expect(terminals.starts).toEqual({ gateway: 3, oldService: 3 });
}, 300_000);
