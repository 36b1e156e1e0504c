/** `check --format json`: problems with stable codes and their places, for editors and programs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { DIAGNOSTIC_CODES } from "../../../src/base/files/diagnostic.ts";
import { captureCommands } from "../../support/command-output.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { withPack, type Edit } from "../../pack/load/pack-folder.ts";

const printed = captureCommands();

/** The exit code and the document that `check` prints about a changed pack. */
const checkChanged = (...edits: readonly Edit[]) =>
  withPack(edits, async (folder) => {
    const code = await runCommandLine(["check", folder, "--format", "json"]);
    return { code, folder, document: JSON.parse(printed()) };
  });

const book = (from: string, to: string): Edit => ({ file: "book.yaml", from, to });

describe("check --format json", () => {
  test("prints what a valid pack covers, and no problem", async () => {
    const { code, document } = await checkChanged();
    expect([code, document]).toEqual([
      0,
      { problems: [], more: false, summary: expect.objectContaining({ objects: expect.any(Number) }) },
    ]);
  });

  test("prints a problem with its code, place and hint", async () => {
    const { code, folder, document } = await checkChanged(book("values: state,", "values: statee,"));
    expect([code, document]).toEqual([
      1,
      {
        problems: [
          {
            code: "unknown-reference",
            file: join(folder, "book.yaml"),
            line: 8,
            column: 39,
            path: ["fields", "state", "values"],
            message: 'unknown value kind "statee"',
            hint: 'did you mean "state"? there are: state, pounds, tray_kind',
          },
        ],
        more: false,
        summary: null,
      },
    ]);
  });

  test.each([
    ["yaml", book("fields:", "fields: [")],
    ["unknown-key", book("list: books", "lists: books")],
    ["missing-key", { file: "pack.yaml", from: "{ parameter: page }, size: 10", to: "{}, size: 10" }],
    ["wrong-type", book("aliases: [heading]", "aliases: heading")],
    ["invalid-value", book("accepts: [object]", "accepts: [objects]")],
    ["invalid-expression", book("'$calls.loan.reader'", "'$nope.reader'")],
    ["invalid-schema", book("maxLength: 9", "maxlength: 9")],
    ["rule", book("upstream: POST /items, body", "upstream: POST /items, status: 204, body")],
    ["unused", { file: "pack.yaml", from: "values:\n", to: "values:\n  spare: { same: [a] }\n" }],
    [
      "golden-case",
      {
        file: "examples/book/list.yaml",
        from: "request: GET /items?page=2",
        to: "request: GET /items?page=3",
      },
    ],
  ] as const)("gives the code %s", async (code, edit) => {
    const { document } = await checkChanged(edit);
    expect(document.problems.map((problem: { code: string }) => problem.code)).toContain(code);
  });

  test("gives the code unmapped for what the surface has and the pack does not", () =>
    withPack([], async (folder) => {
      writeFileSync(
        join(folder, "surface.yaml"),
        "objects: { book: { nope: string } }\nroutes: [GET /nope]\n",
      );
      await runCommandLine(["check", folder, "--format", "json"]);
      const { problems } = JSON.parse(printed());
      expect(problems.map((problem: { code: string }) => problem.code)).toEqual(["unmapped", "unmapped"]);
    }));

  test("names a list of examples/catalogs.yaml that no catalog is read from", async () => {
    const file = "examples/catalogs.yaml";
    const { document, folder } = await checkChanged({ file, from: "GET /places:", to: "place:" });
    expect(document.problems[0]).toEqual({
      code: "unknown-reference",
      file: join(folder, file),
      line: 2,
      column: 1,
      path: ["place"],
      message: 'no catalog is read by "place"',
      hint: "there are: GET /places",
    });
  });

  test("names a list in a golden case that no catalog is read from", async () => {
    const file = "examples/book/list.yaml";
    const { document, folder } = await checkChanged({
      file,
      from: "upstream:",
      to: "catalogs: { GET /place: [] }\nupstream:",
    });
    expect(document.problems).toEqual([
      expect.objectContaining({
        file: join(folder, file),
        path: ["catalogs", "GET /place"],
        message: 'no catalog is read by "GET /place"',
        hint: 'did you mean "GET /places"? there are: GET /places',
      }),
    ]);
  });

  test("gives the code missing-file for a folder without a pack", async () => {
    const folder = temporaryFolder();
    await runCommandLine(["check", folder, "--format", "json"]);
    expect(JSON.parse(printed()).problems).toEqual([
      expect.objectContaining({ code: "missing-file", file: folder, line: 1, hint: null }),
    ]);
  });

  test("excludes what prints something else", async () => {
    expect(await runCommandLine(["check", "mappings", "--format", "json", "--watch"])).toBe(1);
    expect(printed()).toContain("--format");
  });

  test("has all its codes in the reference", () => {
    const page = readFileSync("docs/reference/cli.md", "utf8");
    expect(Object.keys(DIAGNOSTIC_CODES).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });
});
