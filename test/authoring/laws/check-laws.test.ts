/** `check --laws`: laws that hold for every pack, with generated values. */
import { describe, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { checkLaws } from "../../../src/authoring/laws/check-laws.ts";
import type { LawReport } from "../../../src/authoring/laws/law-report.ts";
import { packIn } from "../../support/packs.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { withPack, type Edit } from "../../pack/load/pack-folder.ts";

const checkLibrary = (...edits: readonly Edit[]): Promise<LawReport> =>
  withPack(edits, (folder) => checkLaws(loadPack(folder), { seed: 1, runs: 60 }));

describe("the laws of a pack", () => {
  test("hold for a valid pack, and members of catalogs are not tested", async () => {
    const { cases, findings, untested } = await checkLibrary();
    expect(cases).toBeGreaterThan(100);
    expect(findings.filter(({ kind }) => kind !== "changed")).toEqual([]);
    expect(untested).toContainEqual('book.shelf in "buy"');
  });

  test("hold for errors whose problems have a code and no text, and for bodies that are merged with a whole object", async () => {
    const { findings } = await checkLaws(packIn("examples/shop/pack"), { seed: 1, runs: 60 });
    expect(findings).toEqual([]);
  });

  test.each([
    ["beside an array of problems", "{ title: $title, errors: [{ at: $field, detail: $message }] }"],
    ["of each problem", "{ errors: [{ title: $title, at: $field, detail: $message }] }"],
    ["beside the text", "{ title: $title, status: $status, detail: $message }"],
  ])("hold for errors with a title %s", async (_where, shape) => {
    const edit = {
      file: "pack.yaml",
      from: "error: { problems: [{ at: $field, text: $message }] }",
      to: `error: ${shape}`,
    };
    const { findings } = await checkLibrary(edit);
    expect(findings.filter(({ kind }) => kind === "error")).toEqual([]);
  });

  test("find a value that changes each time it is written back", async () => {
    const edit = {
      file: "pack.yaml",
      from: "write: '$round($value * $rate)'",
      to: "write: '$value * $rate + 1'",
    };
    expect((await checkLibrary(edit)).findings).toContainEqual(
      expect.objectContaining({ kind: "unstable", subject: 'book.price in "buy"' }),
    );
  });

  test.each([
    ["fails where a member is null", "size < 10", ["check"]],
    ["has a result where a member is null", "size != null and size < 10", []],
  ])("know whether a check %s", async (_what, condition, kinds) => {
    const folder = writeSmallPack({
      book: {
        inputs: { size: "size" },
        bodies: {
          edit: {
            schema: { type: "object", properties: { size: { type: ["integer", "null"] } } },
            checks: [{ field: "size", message: `${condition} ? "Too small."` }],
          },
        },
        routes: [{ client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" }],
      },
    });
    const { findings } = await checkLaws(loadPack(folder), { seed: 1, runs: 60 });
    expect(findings.map(({ kind }) => kind)).toEqual(kinds);
    for (const { subject, value } of findings)
      expect([subject, value]).toEqual(['checks of book in "edit"', { size: null }]);
  });

  test("find a value that clients read otherwise than they wrote it", async () => {
    const edit = {
      file: "book.yaml",
      from: "title:  { upstream: name,",
      to: "title:  { upstream: name, write: '$uppercase($value)',",
    };
    expect((await checkLibrary(edit)).findings).toContainEqual(
      expect.objectContaining({ kind: "changed", subject: 'book.title in "buy"' }),
    );
  });

  test("find a filter that does not select the object whose value clients read", async () => {
    const edit = {
      file: "pack.yaml",
      from: "state: { read: { in: available, out: lent }, otherwise: unknown }",
      to: "state: { same: [in, out], read: '$uppercase($value)' }",
    };
    expect((await checkLibrary(edit)).findings).toContainEqual(
      expect.objectContaining({
        kind: "filter",
        subject: expect.stringContaining("book.state in GET /books"),
      }),
    );
  });

  test("take a filter by the value of all other upstream values for rejected", async () => {
    const edit = { file: "pack.yaml", from: "otherwise: unknown }", to: "otherwise: lent }" };
    const { findings } = await checkLibrary(edit);
    expect(findings.filter(({ kind }) => kind === "filter")).toEqual([]);
  });

  test("find an error whose field is lost on the way", async () => {
    const edit = {
      file: "pack.yaml",
      from: "error: { problems: [{ at: $field, text: $message }] }",
      to: 'error: { problems: [{ at: $field, text: $message }, "more"] }',
    };
    const { findings } = await checkLibrary(edit);
    expect(findings).toContainEqual(expect.objectContaining({ kind: "error", subject: "errors of client" }));
  });

  test("have the same cases with the same seed", async () => {
    expect(await checkLibrary()).toEqual(await checkLibrary());
  });
});
