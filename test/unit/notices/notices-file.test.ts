/** The file of `NOTICES_FILE`: its problems, with codes and lines, and what it becomes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { EVENTS } from "../../../src/notices/notice.ts";
import { noticesFile, type NoticesContext, type NoticesPlan } from "../../../src/notices/notices-file.ts";
import { requiresTls } from "../../../src/notices/secrets.ts";
import { OperatorFileError, parseOperatorFile } from "../../../src/operator-files/operator-file.ts";

const KEY = Buffer.from("0123456789abcdef0123456789abcdef");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "secrets-"));
  writeFileSync(join(folder, "secret"), `whsec_${KEY.toString("base64")}\n`);
  writeFileSync(join(folder, "empty"), "\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  const variables = {
    SECRET: `whsec_${KEY.toString("base64")}`,
    SHORT: `whsec_${Buffer.alloc(23).toString("base64")}`,
    SMTP_URL: "smtps://user:p%40ss@mail.example.com",
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

function problemsOf(text: string, context: Partial<NoticesContext> = {}): string[] {
  try {
    read(text, context);
  } catch (error) {
    if (error instanceof OperatorFileError)
      return error.problems.map(({ code, line, message }) => `${code} ${line}: ${message}`);
    throw error;
  }
  return [];
}

const WHOLE = `receivers:
  hook:
    webhook: https://hooks.example.com/alpha
    secret: { env: SECRET }
    events: [client.new, storm]
    digests: [daily]
  team:
    mail: [team@example.com]
smtp: { url: { env: SMTP_URL }, from: gateway@example.com }
digests: { daily: "0 7 * * 1-5", weekly: "30 7 * * 1", zone: Europe/Berlin }
contacts: true
`;

describe("a valid file", () => {
  test("has receivers with their secrets, a mail server and reports", () => {
    const { receivers, smtp, contacts } = read(WHOLE);
    expect(receivers).toEqual([
      {
        name: "hook",
        target: { url: "https://hooks.example.com/alpha", key: KEY },
        events: new Set(["client.new", "storm"]),
        digests: new Set(["daily"]),
      },
      { name: "team", target: { to: ["team@example.com"] }, events: new Set(EVENTS), digests: new Set() },
    ]);
    expect([smtp?.url.hostname, smtp?.from, contacts]).toEqual([
      "mail.example.com",
      "gateway@example.com",
      true,
    ]);
  });

  test("may have its secrets in files", () => {
    const secret = join(folder, "secret");
    const { receivers } = read(
      `receivers: { hook: { webhook: "http://localhost/", secret: { file: ${secret} } } }`,
    );
    expect(receivers[0]?.target).toEqual({ url: "http://localhost/", key: KEY });
  });

  test("says when the next report is due, by the clock of its zone", () => {
    const { nextDigest } = read(WHOLE);
    const next = (digest: "daily" | "weekly", after: string): string =>
      new Date(nextDigest(digest, Date.parse(after))).toISOString();
    expect(next("daily", "2026-06-05T05:00:00Z")).toBe("2026-06-08T05:00:00.000Z");
    expect(next("weekly", "2026-06-05T05:00:00Z")).toBe("2026-06-08T05:30:00.000Z");
    // Winter time.
    expect(next("weekly", "2026-12-01T00:00:00Z")).toBe("2026-12-07T06:30:00.000Z");
  });

  test("sends nothing and has reports at eight (UTC) if it is empty", () => {
    const { receivers, contacts, nextDigest } = read("{}");
    expect([receivers, contacts]).toEqual([[], false]);
    expect(new Date(nextDigest("daily", Date.parse("2026-06-01T09:00:00Z"))).toISOString()).toBe(
      "2026-06-02T08:00:00.000Z",
    );
  });
});

const HOOK = "webhook: https://hooks.example.com/";

describe("a problem has a code and a line", () => {
  test.each([
    [
      "AG_NOTICES_RECEIVER_KIND",
      "receivers:\n  a: { events: [] }",
      "2: a receiver has one of the keys webhook and mail",
    ],
    [
      "AG_NOTICES_RECEIVER_KIND",
      `receivers:\n  a: { ${HOOK}, mail: [a@example.com], secret: { env: SECRET } }`,
      "2: a receiver has one of the keys webhook and mail",
    ],
    ["AG_NOTICES_RECEIVER_KIND", `receivers:\n  a: { ${HOOK} }`, '2: the key "secret" is missing'],
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
      "AG_NOTICES_SMTP_MISSING",
      "receivers:\n  a: { mail: [a@example.com] }",
      '2: the key "smtp" of the file is missing',
    ],
    ["AG_NOTICES_SMTP_MISSING", "contacts: true", '1: the key "smtp" of the file is missing'],
    [
      "AG_NOTICES_SMTP_URL",
      "smtp: { url: { env: SECRET }, from: a@example.com }",
      "1: the address of the mail server is not smtp://host or smtps://host",
    ],
    ["AG_NOTICES_ZONE", "digests: { zone: Mars }", '1: "Mars" is not a time zone, such as Europe/Berlin'],
    ["AG_NOTICES_CRON", 'digests: { daily: "each day" }', '1: "each day" is not a pattern of five fields: '],
    ["AG_FILE_INVALID", "receivers: { a: { mail: [nobody] } }", "1: "],
    ["AG_FILE_INVALID", 'receivers: { a: { webhook: "ftp://example.com/" } }', "1: "],
    ["AG_FILE_INVALID", "receivers: { A: { mail: [a@example.com] } }", "1: "],
  ])("%s: %s", (code, text, problem) => {
    const [first = ""] = problemsOf(text);
    expect(first.slice(0, code.length + 1 + problem.length)).toBe(`${code} ${problem}`);
  });

  test("AG_NOTICES_SMTP_URL: options of the address could switch off the check of certificates", () => {
    process.env["SMTP_URL"] = "smtps://mail.example.com/?tls.rejectUnauthorized=false";
    expect(problemsOf(WHOLE)).toEqual([expect.stringMatching(/^AG_NOTICES_SMTP_URL 9/)]);
  });

  test("AG_NOTICES_NEEDS_AUDIT: events of clients, and reports, without an audit store", () => {
    expect(problemsOf(WHOLE, { hasAudit: false })).toEqual([
      "AG_NOTICES_NEEDS_AUDIT 3: without an audit store nobody knows about clients: client.new, daily",
      "AG_NOTICES_NEEDS_AUDIT 11: without an audit store nobody knows about clients",
    ]);
  });

  test("no problem shows the value of a secret", () => {
    process.env["SECRET"] = "hunter2";
    process.env["SMTP_URL"] = "http://user:hunter2@mail.example.com";
    expect(problemsOf(WHOLE)).toHaveLength(2);
    expect(problemsOf(WHOLE).join()).not.toContain("hunter2");
  });

  test("`check` leaves secrets out", () => {
    delete process.env["SECRET"];
    delete process.env["SMTP_URL"];
    expect(problemsOf(WHOLE, { readsSecrets: false })).toEqual([]);
  });
});

test("a password is sent to another machine over TLS only", () => {
  expect(requiresTls(new URL("smtp://user:secret@mail.example.com"))).toBe(true);
  expect(requiresTls(new URL("smtp://user:secret@127.0.0.1"))).toBe(false);
  expect(requiresTls(new URL("smtp://relay.example.com"))).toBe(false);
});
