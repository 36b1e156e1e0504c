import { afterEach, beforeEach, jest } from "@jest/globals";

/**
 * Collects what commands print that run in this process, for each test of a file. `DATABASE_URL` and `REDIS_URL` are
 * unset meanwhile: whoever runs the tests may have such stores, and those of these tests are in folders.
 *
 * @returns reads what was printed to both streams
 */
export function captureCommands(): () => string {
  let output = "";
  const { DATABASE_URL: database, REDIS_URL: redis } = process.env;
  beforeEach(() => {
    output = "";
    delete process.env["DATABASE_URL"];
    delete process.env["REDIS_URL"];
    for (const stream of [process.stdout, process.stderr])
      jest.spyOn(stream, "write").mockImplementation((text) => Boolean((output += text)));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    if (database !== undefined) process.env["DATABASE_URL"] = database;
    if (redis !== undefined) process.env["REDIS_URL"] = redis;
  });
  return () => output;
}
