/** The table of error codes, the codes in `src/`, the log calls and the error classes, held against each other. */
import { describe, expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = "docs/reference/errors.md";
const CODE = /\bAG_[A-Z0-9]+(?:_[A-Z0-9]+)*\b/g;

/** Errors that never leave the module that throws them, and responses of the sandbox, which is a v4 service. */
const INTERNAL_CLASSES = new Set([
  "Failure",
  "NotCompilableError",
  "RedisReplyError",
  "SchemaError",
  "OAuthProblem",
  "Problem",
]);

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => /\.(?:ts|js)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join("src", path), "utf8") }));
const codesInSource = sources.flatMap(({ text }) => text.match(CODE) ?? []);

/** Log calls at `warn` level or above, each from its parenthesis on. */
const logCalls = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/\blog(?:ger)?\??\.(?:warn|error|fatal)(\([\s\S]{0,60})/gi)].map(([call, rest = ""]) => ({
    call: `${path}: ${call.split("\n")[0]}`,
    hasCode: /^\(\s*\{\s*code: "AG_/.test(rest),
  })),
);

/** Exported classes that extend an error, directly or not. */
const errorClasses = sources
  .filter(({ path }) => path.endsWith(".ts"))
  .flatMap(({ text }) => [
    ...text.matchAll(/^export class (\w+) extends (\w*Error) \{([\s\S]*?)(?:\}$|^\})/gm),
  ])
  .map(([, name = "", base = "", body = ""]) => ({ name, base, body }))
  .filter(({ name }) => !INTERNAL_CLASSES.has(name));

const rows = readFileSync(PAGE, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `AG_"))
  .map((line) => line.replace(/^\| | \|$/g, "").split(" | "));
const codesInPage = rows.map(([code = ""]) => code.replaceAll("`", ""));

describe("docs/reference/errors.md", () => {
  test("has one row for each error code in src/, and no other rows", () => {
    expect([...codesInPage].toSorted()).toEqual([...new Set(codesInSource)].toSorted());
  });

  test("is sorted by code", () => {
    expect(codesInPage).toEqual(codesInPage.toSorted());
  });

  test("gives a cause and a remedy for each code", () => {
    for (const [code, cause = "", remedy = "", ...others] of rows) {
      expect({ code, others, hasCause: cause.length > 20, hasRemedy: remedy.length > 20 }).toEqual({
        code,
        others: [],
        hasCause: true,
        hasRemedy: true,
      });
    }
  });
});

describe("log calls", () => {
  test("at warn level or above start with a code", () => {
    expect(logCalls.length).toBeGreaterThan(10);
    expect(logCalls.filter(({ hasCode }) => !hasCode)).toEqual([]);
  });

  test("name their level, so that the type of the log can require a code", () => {
    expect(sources.filter(({ text }) => /\blog\[/.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe("exported error classes", () => {
  test.each(errorClasses)("$name has a code, and its own name", ({ name, base, body }) => {
    const inherits = base !== "Error";
    expect(inherits || /readonly code(?: = "AG_|: )/.test(body)).toBe(true);
    expect(inherits || body.includes(`override readonly name = "${name}";`)).toBe(true);
  });

  test("are more than a dozen", () => {
    expect(errorClasses.length).toBeGreaterThan(12);
  });
});
