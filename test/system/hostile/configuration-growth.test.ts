/** Work on a text of a client that depends on the size of a configuration: neither the text nor the configuration makes it slow. */
import { describe, expect, test } from "@jest/globals";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { takesNoLonger } from "../../support/growth.ts";

describe("the work on a user agent that is new", () => {
  const MOST_PATTERNS = 2000;
  const AGENTS = 200;
  let made = 0;

  /** Finds the clients of user agents that were never seen, of a length, in a directory with a number of patterns. */
  function finder(length: number, count: number, patternOf: (n: number) => string): () => void {
    const patterns = Array.from({ length: count }, (_, n) => patternOf(n));
    const text = JSON.stringify({ it: { user_agents: patterns } });
    const directory = parseOperatorFile({ file: "clients.yaml", text }, CLIENTS_FILE);
    // More than the directory remembers.
    const agents = Array.from({ length: 20 * AGENTS }, () => `client-${(made += 1)}/${"a".repeat(length)}`);
    let next = 0;
    return () => {
      for (let n = 0; n < AGENTS; n += 1)
        directory.nameOf({ userAgent: agents[(next += 1) % agents.length] });
    };
  }

  const byName = (n: number): string => `program-${n}/*`;

  test.each([
    ["that begin with a name", byName],
    ["that begin with a star", (n: number) => `*program-${n}/*`],
    ["with many stars", (n: number) => `*${"a*".repeat(20)}${n}`],
  ])("does not grow with its length, with patterns %s", (_what, patternOf) => {
    const [long, short] = [finder(16_000, MOST_PATTERNS, patternOf), finder(200, MOST_PATTERNS, patternOf)];
    expect(takesNoLonger(long, short)).toBe(true);
  });

  test("does not grow with the number of patterns that begin otherwise", () => {
    expect(takesNoLonger(finder(180, MOST_PATTERNS, byName), finder(180, 20, byName))).toBe(true);
  });
});
