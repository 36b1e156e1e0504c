/** The file of `NOTICES_FILE`: its problems, with codes and lines, and what it becomes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { EVENTS } from "../../../src/migration/notices/notice.ts";
import {
  noticesFile,
  type NoticesContext,
  type NoticesPlan,
} from "../../../src/migration/notices/notices-file.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { problemsIn } from "../../support/operator-file.ts";

const KEY = Buffer.from("0123456789abcdef0123456789abcdef");

let folder: string;
beforeAll(() => {
  folder = temporaryFolder();
  writeFileSync(join(folder, "secret"), `whsec_${KEY.toString("base64")}\n`);
  writeFileSync(join(folder, "empty"), "\n");
});
beforeEach(() => {
  const variables = {
    SECRET: `whsec_${KEY.toString("base64")}`,
    SHORT: `whsec_${Buffer.alloc(23).toString("base64")}`,
  };
  jest.replaceProperty(process, "env", { ...process.env, ...variables });
});
afterEach(() => {
  jest.restoreAllMocks();
});

const read = (text: string, context: Partial<NoticesContext> = {}): NoticesPlan =>
  parseOperatorFile(
    { file: "notices.yaml", text },
    noticesFile({ hasAudit: true, readsSecrets: true, ...context }),
  );

const problemsOf = (text: string, context: Partial<NoticesContext> = {}): string[] =>
  problemsIn(() => read(text, context));

const WHOLE = `receivers:
  hook:
    webhook: https://hooks.example.com/alpha
    secret: { env: SECRET }
    events: [client.new, storm]
  team: { webhook: "http://localhost/", secret: { file: FILE } }
`;

describe("a valid file", () => {
  test("has receivers with their secrets, from variables and files", () => {
    const { receivers } = read(WHOLE.replace("FILE", join(folder, "secret")));
    expect(receivers).toEqual([
      {
        name: "hook",
        url: "https://hooks.example.com/alpha",
        key: KEY,
        events: new Set(["client.new", "storm"]),
      },
      { name: "team", url: "http://localhost/", key: KEY, events: new Set(EVENTS) },
    ]);
  });

  test("has no receivers if it is empty", () => {
    expect(read("{}")).toEqual({ receivers: [] });
  });
});

const HOOK = "webhook: https://hooks.example.com/";

describe("a problem has a code and a line", () => {
  test.each([
    ["AG_FILE_INVALID", "receivers:\n  a: { secret: { env: SECRET } }", '2: the key "webhook" is missing'],
    ["AG_FILE_INVALID", `receivers:\n  a: { ${HOOK} }`, '2: the key "secret" is missing'],
    [
      "AG_NOTICES_SECRET_PLACE",
      `receivers:\n  a: { ${HOOK}, secret: {} }`,
      "2: has one of the keys env and file",
    ],
    [
      "AG_NOTICES_SECRET_MISSING",
      `receivers:\n  a: { ${HOOK}, secret: { env: UNSET } }`,
      "2: UNSET is not set",
    ],
    [
      "AG_NOTICES_SECRET_MISSING",
      `receivers:\n  a: { ${HOOK}, secret: { file: /nowhere/secret } }`,
      '2: the file "/nowhere/secret" can\'t be read: ENOENT',
    ],
    [
      "AG_NOTICES_SECRET_INVALID",
      `receivers:\n  a: { ${HOOK}, secret: { env: SHORT } }`,
      "2: the secret is not whsec_ and 24 to 64 bytes in Base64",
    ],
    [
      "AG_FILE_INVALID",
      "receivers:\n  a: { webhook: 'https://user:pw@hooks.example.com/', secret: { env: SECRET } }",
      "2: must not have a user or a password: they are not sent",
    ],
    ["AG_FILE_INVALID", 'receivers: { a: { webhook: "ftp://example.com/" } }', "1: "],
    ["AG_FILE_INVALID", `receivers: { A: { ${HOOK}, secret: { env: SECRET } } }`, '1: "A" is not a name: '],
  ])("%s: %s", (code, text, problem) => {
    const [first = ""] = problemsOf(text);
    expect(first.slice(0, code.length + 1 + problem.length)).toBe(`${code} ${problem}`);
  });

  test("AG_NOTICES_NEEDS_AUDIT: events of clients without an audit store", () => {
    const context = { hasAudit: false, readsSecrets: false };
    expect(problemsOf(WHOLE, context)).toEqual([
      "AG_NOTICES_NEEDS_AUDIT 3: without an audit store there are no notices about clients: client.new",
    ]);
  });

  test("no problem shows the value of a secret", () => {
    process.env["SECRET"] = "hunter2";
    const problems = problemsOf(`receivers:\n  a: { ${HOOK}, secret: { env: SECRET } }`);
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain("hunter2");
  });

  test("`check` leaves secrets out", () => {
    delete process.env["SECRET"];
    expect(problemsOf(WHOLE, { readsSecrets: false })).toEqual([]);
  });
});
