/** How much of a pack `init --old --new` finds in the descriptions of both APIs, compared with the pack that people wrote. */
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { describePack } from "../../../src/pack/openapi/document.ts";
import { summarizePack } from "../../../src/pack/load/pack-summary.ts";
import { v4Operations } from "../../spec/v4-operations.ts";
import { v4Document } from "../../spec/v4-document.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { measureDraft } from "./measure-draft.ts";

const printed = captureCommands();
const top = temporaryFolder();

/** A document without its extensions: those of a pack's description name the fields of the new API. */
const withoutExtensions = (document: unknown): unknown =>
  JSON.parse(JSON.stringify(document), (key, value: unknown) => (key.startsWith("x-") ? undefined : value));

/** The description of the old API, as the pack's `openapi` prints it. */
function writeOld(pack: string, change: (document: unknown) => unknown = (document) => document): string {
  const file = join(mkdtempSync(join(top, "old-")), "old.json");
  writeFileSync(file, JSON.stringify(change(describePack(loadPack(pack), "1"))));
  return file;
}

function writeV4(): string {
  const file = join(top, "v4.json");
  writeFileSync(file, JSON.stringify(v4Document()));
  return file;
}

async function draft(old: string, now: string): Promise<{ readonly folder: string; readonly code: number }> {
  const folder = join(mkdtempSync(join(top, "draft-")), "pack");
  return { folder, code: await runCommandLine(["init", folder, "--old", old, "--new", now]) };
}

/** A pack with some of a pack's files. */
function onlyFiles(pack: string, files: readonly string[]): string {
  const folder = mkdtempSync(join(top, "part-"));
  for (const file of files) cpSync(join(pack, file), join(folder, file));
  return folder;
}

/** Pairs of APIs: the pack that people wrote, and the description of the new API. */
const PAIRS: readonly (readonly [pack: string, describeNew: () => string])[] = [
  ["mappings", writeV4],
  ["examples/payments/pack", () => "examples/payments/new-api.yaml"],
  ["examples/media-type-versions/pack", () => "examples/media-type-versions/new-api.yaml"],
  // Of the other objects there is no description.
  [onlyFiles("examples/json-api/pack", ["pack.yaml", "post.yaml"]), () => "examples/json-api/new-api.yaml"],
];

describe.each(PAIRS)("the draft for %s", (pack, describeNew) => {
  test("passes check as it is written, and has 80 % of the routes and 85 % of the fields at 97 % precision", async () => {
    const { folder, code } = await draft(writeOld(pack), describeNew());
    expect([code, printed()]).toEqual([0, expect.stringContaining("open points")]);
    const { routes, fields } = measureDraft(pack, folder);
    for (const quality of [routes, fields])
      expect(quality.precision >= 0.97 ? [] : quality.wrong).toEqual([]);
    expect(fields.recall).toBeGreaterThanOrEqual(0.85);
    expect(routes.recall).toBeGreaterThanOrEqual(0.8);
  });

  test("is the same without the extensions of the old description, which name the new fields", async () => {
    const [one, other] = [
      await draft(writeOld(pack), describeNew()),
      await draft(writeOld(pack, withoutExtensions), describeNew()),
    ];
    expect(loadPack(other.folder).hash).toBe(loadPack(one.folder).hash);
  });
});

/** Another spelling: `created_at` becomes `createdAt`. */
const camelCase = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function respell(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(respell);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === "properties"
        ? Object.fromEntries(
            Object.entries(each as object).map(([name, member]) => [camelCase(name), respell(member)]),
          )
        : respell(each),
    ]),
  );
}

test("an API in another spelling and under other paths is found as a whole", async () => {
  const { paths, ...others } = respell(v4Document()) as { paths: Record<string, unknown> };
  const moved = Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [`/service/api${path}`, item]),
  );
  const now = join(top, "respelled.json");
  writeFileSync(now, JSON.stringify({ ...others, paths: moved }));
  const { folder, code } = await draft(writeV4(), now);
  expect(code).toBe(0);
  const { routes, objects } = summarizePack(loadPack(folder));
  const wrongRoutes = routes.filter(
    ({ alpha, v4 }) => alpha.replaceAll(/:(\w+)/g, "{$1}").replace(" ", " /v4/service/api") !== v4,
  );
  const fields = objects.flatMap((object) => object.fields);
  expect(wrongRoutes).toEqual([]);
  expect(fields.filter(({ name, v4 }) => camelCase(name) !== v4)).toEqual([]);
  expect(routes.length / Object.keys(v4Operations.operations).length).toBeGreaterThan(0.95);
});
