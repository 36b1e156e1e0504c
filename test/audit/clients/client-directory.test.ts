import { describe, expect, test } from "@jest/globals";
import { agentFamily } from "../../../src/audit/clients/agent-pattern.ts";
import { CLIENTS_FILE, type ClientDirectory } from "../../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { problemsIn } from "../../support/operator-file.ts";

const read = (text: string): ClientDirectory =>
  parseOperatorFile({ file: "clients.yaml", text }, CLIENTS_FILE);

const problemsOf = (text: string): string[] => problemsIn(() => read(text));

const DIRECTORY = read(`
billing:
  contact: billing@example.com
  owner: Team Billing
  tokens: ["0123456789abcdef"]
  ends: 2027-03-31
mobile app:
  applications: [app-1]
  user_agents: ["mobile/*"]
scripts:
  user_agents: ["*curl*", "Wget/*.*"]
`);

describe("the name of a client", () => {
  test.each([
    [{ fingerprint: "0123456789abcdef" }, "billing"],
    [{ application: "app-1" }, "mobile app"],
    [{ userAgent: "Mobile/3.1 (Android)" }, "mobile app"],
    [{ userAgent: "curl/8.0" }, "scripts"],
    [{ userAgent: "libcurl-agent" }, "scripts"],
    [{ userAgent: "wget/1.21" }, "scripts"],
    [{ userAgent: "wget/1" }, undefined],
    [{ label: "billing" }, "billing"],
    [{ label: "nobody" }, undefined],
    [{ fingerprint: null, userAgent: null, application: null, label: null }, undefined],
    [{}, undefined],
  ])("%j: %s", (identity, name) => {
    expect(DIRECTORY.nameOf(identity)).toBe(name);
    expect(DIRECTORY.nameOf(identity)).toBe(name);
  });

  test("is given by a proxy, else by the application, the token, the user agent", () => {
    const all = {
      label: "scripts",
      application: "app-1",
      fingerprint: "0123456789abcdef",
      userAgent: "curl/8.0",
    };
    expect(DIRECTORY.nameOf(all)).toBe("scripts");
    expect(DIRECTORY.nameOf({ ...all, label: "unknown" })).toBe("mobile app");
    expect(DIRECTORY.nameOf({ ...all, label: null, application: "other" })).toBe("billing");
    expect(DIRECTORY.nameOf({ userAgent: all.userAgent, fingerprint: "0".repeat(16) })).toBe("scripts");
  });

  test("has an entry with contact, owner and the day on which access ends", () => {
    expect(DIRECTORY.find("billing")).toMatchObject({
      contact: "billing@example.com",
      owner: "Team Billing",
      ends: "2027-03-31",
    });
    expect(DIRECTORY.find("__proto__")).toBeUndefined();
  });
});

describe("a directory with problems names each with its code and place", () => {
  test.each([
    ["a: [", ["AG_FILE_SYNTAX 1"]],
    ["a: {}\na: {}", ["AG_FILE_SYNTAX 2"]],
    ["- a", ["AG_FILE_INVALID 1"]],
    ["a:\n  token: [x]", ["AG_FILE_INVALID 2"]],
    ["a:\n  tokens: [0123]", ["AG_FILE_INVALID 2"]],
    ["a:\n  ends: tomorrow", ["AG_FILE_INVALID 2"]],
    ['"\\n": {}', ["AG_FILE_INVALID 1"]],
    ['a:\n  user_agents: ["*"]', ["AG_FILE_INVALID 2"]],
    ["a: { applications: [x] }\nb: { applications: [x] }", ["AG_CLIENT_APPLICATION_TWICE 2"]],
    ['a: { tokens: ["0123456789abcdef"] }\nb: { tokens: ["0123456789abcdef"] }', ["AG_CLIENT_TOKEN_TWICE 2"]],
    ["a: { user_agents: [x*] }\nb: { user_agents: [X*] }", ["AG_CLIENT_PATTERN_TWICE 2"]],
    ["Billing: {}\nbilling: {}", ["AG_CLIENT_NAME_TWICE 2"]],
  ])("%j", (text, expected) => {
    expect(problemsOf(text).map((problem) => problem.split(":")[0])).toEqual(expected);
  });
});

describe("a pattern of user agents", () => {
  const nameOf = (pattern: string, userAgent: string): string | undefined =>
    read(`it: { user_agents: ["${pattern}"] }`).nameOf({ userAgent });

  test("does not use text twice", () => {
    expect(nameOf("ab*bc", "abc")).toBeUndefined();
    expect(nameOf("ab*bc", "abbc")).toBe("it");
  });

  test("is compared with the first 200 characters of a user agent", () => {
    const agent = `billing/${"x".repeat(15_000)}end`;
    expect(nameOf("billing/*", agent)).toBe("it");
    expect(nameOf("*end", agent)).toBeUndefined();
    expect(nameOf("*end", `${"x".repeat(197)}end and more`)).toBe("it");
  });

  test("wins if it comes first in the file, however much of the user agent it names", () => {
    const directory = read(`
one: { user_agents: ["*sync*", "other"] }
two: { user_agents: ["billing-*"] }
three: { user_agents: ["billing-sync/*", "bill"] }
`);
    expect(directory.nameOf({ userAgent: "billing-sync/3" })).toBe("one");
    expect(directory.nameOf({ userAgent: "billing-list/3" })).toBe("two");
    expect(directory.nameOf({ userAgent: "bill" })).toBe("three");
    expect(directory.nameOf({ userAgent: "billing" })).toBeUndefined();
  });

  test("is one of 2000 at most, of all clients together", () => {
    const withPatterns = (count: number): string =>
      JSON.stringify({
        a: { user_agents: Array.from({ length: count }, (_, n) => `a${n}/*`) },
        b: { user_agents: ["b"] },
      });
    expect(problemsOf(withPatterns(1999))).toEqual([]);
    expect(problemsOf(withPatterns(2000))).toEqual([
      expect.stringMatching(/^AG_FILE_INVALID 1: .*has more than 2000 patterns of user agents/),
    ]);
  });
});

test.each([
  ["billing-sync/2.1 (linux)", "billing-sync"],
  ["python-requests 2.0", "python-requests"],
  ["", undefined],
  [null, undefined],
  ["x".repeat(1000), "x".repeat(60)],
])("the family of the user agent %j is %j", (agent, family) => {
  expect(agentFamily(agent)).toBe(family);
});
