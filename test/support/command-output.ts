import { afterEach, beforeEach, jest } from "@jest/globals";
import { runCommandLine } from "../../src/app/cli/program.ts";

/** What commands have printed, to both streams and to each. */
interface Printed {
  both: string;
  out: string;
  err: string;
}

/** Collects what commands print, for each test of a file. */
function capture(): Printed {
  const printed: Printed = { both: "", out: "", err: "" };
  const { DATABASE_URL: database, REDIS_URL: redis } = process.env;
  const keepAs = (name: "out" | "err") => (text: unknown) => {
    printed[name] += String(text);
    printed.both += String(text);
    return true;
  };
  beforeEach(() => {
    Object.assign(printed, { both: "", out: "", err: "" });
    delete process.env["DATABASE_URL"];
    delete process.env["REDIS_URL"];
    // `stream.pipeline` leaves listeners on a stream that stays open, and a worker runs the exports of several files.
    process.stdout.setMaxListeners(Infinity);
    jest.spyOn(process.stdout, "write").mockImplementation(keepAs("out"));
    jest.spyOn(process.stderr, "write").mockImplementation(keepAs("err"));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    if (database !== undefined) process.env["DATABASE_URL"] = database;
    if (redis !== undefined) process.env["REDIS_URL"] = redis;
  });
  return printed;
}

/**
 * Collects what commands print that run in this process, for each test of a file. `DATABASE_URL` and `REDIS_URL` are
 * unset meanwhile: whoever runs the tests may have such stores, and those of these tests are in folders.
 *
 * @returns reads what was printed to both streams
 */
export function captureCommands(): () => string {
  const printed = capture();
  return () => printed.both;
}

/** What one command printed, and its exit code. */
export interface CommandResult {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

/** Runs commands in this process, as {@link captureCommands} does. */
export function createCommandRunner(): (...args: readonly string[]) => Promise<CommandResult> {
  const printed = capture();
  return async function run(...args) {
    Object.assign(printed, { both: "", out: "", err: "" });
    const code = await runCommandLine(args);
    return { code, out: printed.out, err: printed.err };
  };
}
