/** Runs the program as a process that ends with the test: its output, signals and exit code. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { endsWithTest } from "../../support/ends-with-test.ts";

export const REPOSITORY = join(import.meta.dirname, "..", "..", "..");

/** The program that is tested: the installed package's, or that of the sources (`npm run test:system -- --source`). */
export const PROGRAM = process.env["TESTED_PROGRAM"] ?? join(REPOSITORY, "src", "main.ts");

/** The same with OpenTelemetry's packages beside it. */
export const PROGRAM_WITH_OPENTELEMETRY = process.env["TESTED_PROGRAM_WITH_OPENTELEMETRY"] ?? PROGRAM;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Program {
  readonly pid: number;
  /** Resolves with the first match in its standard output. @throws {Error} if it ends before. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  /** The same in its standard error. */
  waitForError(pattern: RegExp): Promise<RegExpExecArray>;
  /** Starts to read standard error, where nobody did. */
  readErrors(): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the process has ended and its output has been read. */
  readonly ended: Promise<Ended>;
  /** Resolves with the exit code, whether its output has been read or not. */
  readonly exited: Promise<number | null>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the repository. */
  readonly cwd?: string;
  /** What Node is given to run. Default: {@link PROGRAM}. */
  readonly script?: readonly string[];
  /** A program and its arguments, which starts Node in the end. */
  readonly within?: readonly string[];
  /** Whether standard error is read from the start. Default: true. */
  readonly readsErrors?: boolean;
}

/** Runs it with the given settings only, without the environment of this machine. */
export function run(
  args: readonly string[],
  { env, cwd = REPOSITORY, script, within = [], readsErrors = true }: RunOptions = {},
): Program {
  const node = script ?? [PROGRAM];
  const [first = "", ...given] = [...within, process.execPath, ...node, ...args];
  const child = spawn(first, given, {
    cwd,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  let look = (): void => {};
  /** Resolves with the first match in what `read` returns. */
  function waitForText(read: () => string, pattern: RegExp): Promise<RegExpExecArray> {
    const seen = new Promise<RegExpExecArray>((resolve) => {
      look = () => {
        const match = pattern.exec(read());
        if (match) resolve(match);
      };
      look();
    });
    const over = ended.then((end): never => {
      throw new Error(
        `ended with ${end.code ?? end.signal} before it printed ${pattern}\n${end.out}${end.err}`,
      );
    });
    return Promise.race([seen, over]);
  }
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    look();
  });
  const readErrors = (): void =>
    void child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString();
      look();
    });
  if (readsErrors) readErrors();
  const ended = once(child, "close").then(([code, signal]): Ended => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    out,
    err,
  }));
  endsWithTest(() => {
    child.kill("SIGKILL");
    // Otherwise its streams never end.
    child.stderr.resume();
    return ended;
  });
  return {
    pid: child.pid ?? 0,
    ended,
    exited: once(child, "exit").then(([code]) => code as number | null),
    readErrors,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    waitForOutput: (pattern: RegExp) => waitForText(() => out, pattern),
    waitForError: (pattern: RegExp) => waitForText(() => err, pattern),
  };
}

export interface Serving extends Program {
  readonly url: string;
  readonly admin: string;
}

export interface ServeOptions extends RunOptions {
  readonly flags?: readonly string[];
}

/** How long a gateway has to end, as the setting's default says it: for tests of the end. */
export const DEFAULT_GRACE = { SHUTDOWN_GRACE_MS: "10000" };

/**
 * `serve` on free ports with a data folder; resolves once it has said whether it is ready. A gateway whose clients keep
 * connections waits a quarter of its grace time when it ends, so that it has less of it than usual.
 */
export async function serve(
  folder: string,
  { env, flags = [], ...options }: ServeOptions = {},
): Promise<Serving> {
  const program = run(["serve", ...flags], {
    ...options,
    env: {
      PORT: "0",
      ADMIN_PORT: "0",
      DATA_DIR: folder,
      LOG_LEVEL: "warn",
      SHUTDOWN_GRACE_MS: "400",
      ...env,
    },
  });
  const [, url = "", admin = ""] = await program.waitForOutput(
    /^Gateway +(\S+)\nAdmin +(\S+)\n[^]*^(?:Ready\.|Running, not ready yet)/m,
  );
  return { ...program, url, admin };
}

/** Resolves when no connection is taken there any more. */
export async function waitUntilClosed(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = connect(Number(port), hostname);
    const taken = await once(socket, "connect").catch(() => undefined);
    socket.destroy();
    if (!taken) return;
    await wait(10);
  }
}
