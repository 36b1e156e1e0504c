import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

/** A child process that runs a server. */
export interface Child {
  readonly pid: number;
  readonly url: string;
  /** Everything that it printed before it listened. */
  readonly printed: string;
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** A path from the folder of this file, or an absolute one. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Of node, before the script. */
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Before node on the command line. */
  readonly prefix?: readonly string[];
  /** What it prints when it listens; the first group is its address. */
  readonly ready: RegExp;
}

const START_MS = 60_000;
const STOP_MS = 5000;

/** Other environment variables could change what is measured. */
const environment = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  NODE_ENV: "production",
  ...extra,
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await exited;
  clearTimeout(late);
}

function listening(
  child: ChildProcess,
  { script, ready }: ChildOptions,
): Promise<Pick<Child, "url" | "printed">> {
  return new Promise((resolve, reject) => {
    let printed = "";
    const fail = (why: string): void => reject(new Error(`${script} ${why}\n${printed}`));
    const late = setTimeout(() => fail(`does not listen after ${START_MS} ms`), START_MS);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) => {
      clearTimeout(late);
      fail(`ended with ${code}`);
    });
    const onOutput = (chunk: Buffer): void => {
      printed = (printed + chunk.toString()).slice(-10_000);
      const url = ready.exec(printed)?.[1];
      if (url === undefined) return;
      clearTimeout(late);
      resolve({ url, printed });
    };
    child.stdout?.on("data", onOutput);
    child.stderr?.on("data", onOutput);
  });
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a child process and waits until it listens. @throws {Error} with its output if it doesn't. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { prefix = [], nodeArgs = [], args = [], script } = options;
  const [command = process.execPath, ...rest] = [
    ...prefix,
    process.execPath,
    ...nodeArgs,
    resolve(import.meta.dirname, script),
    ...args,
  ];
  const child = spawn(command, rest, {
    env: environment(options.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  async function stop(): Promise<void> {
    await end(child);
    running.delete(child);
  }
  try {
    return { pid: child.pid ?? 0, ...(await listening(child, options)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
