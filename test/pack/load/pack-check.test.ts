import { describe, expect, test } from "@jest/globals";
import { checkInThread } from "../../../src/pack/load/pack-check.ts";
import { checkFiles, compileChecked } from "../../../src/pack/load/checked-pack.ts";
import { PackError } from "../../../src/base/files/diagnostic.ts";
import { loadPack, readPack } from "../../../src/pack/load/load-pack.ts";
import { summarizePack } from "../../../src/pack/load/pack-summary.ts";
import { runInSlices, runSteps, type Steps } from "../../../src/pack/steps.ts";

const WORDS = { vm: "acme", orch: "stack" };
const signal = (): AbortSignal => new AbortController().signal;

describe("a pack that another thread has checked", () => {
  const files = readPack("mappings");

  test.each([{}, WORDS])("is the same pack, with the words %o", async (words) => {
    const checked = await checkInThread({ files, words }, signal());
    const pack = runSteps(compileChecked(files, checked, words));
    const loaded = loadPack("mappings", words);
    expect(pack.hash).toBe(loaded.hash);
    expect(summarizePack(pack)).toEqual(summarizePack(loaded));
  });

  test("is compiled without being parsed again", () => {
    const unread = { ...files, files: files.files.map(({ file }) => ({ file, text: "{" })) };
    const pack = runSteps(compileChecked(unread, checkFiles(files, WORDS), WORDS));
    expect(summarizePack(pack)).toEqual(summarizePack(loadPack("mappings", WORDS)));
  });

  test("is compiled in one step for each value kind, object and route at least", () => {
    const steps = compileChecked(files, checkFiles(files, {}), {});
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count += 1;
    const { routes, resources, dialect } = step.value;
    expect(count).toBeGreaterThanOrEqual(routes.length + resources.size + Object.keys(dialect.values).length);
  });

  test("is rejected with the places of its problems, without its lines", async () => {
    const invalid = { ...files, files: [...files.files, { file: "x.yaml", text: "object: 7\n" }] };
    const error = await checkInThread({ files: invalid, words: {} }, signal()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(PackError);
    expect(error.diagnostics).toEqual([expect.objectContaining({ file: "x.yaml", line: 1, column: 9 })]);
    expect(error.message).not.toContain("object: 7");
  });

  test("is aborted if it is no longer needed", async () => {
    const controller = new AbortController();
    const check = checkInThread({ files, words: {} }, controller.signal);
    controller.abort();
    await expect(check).rejects.toThrow("another pack replaces it");
  });
});

describe("steps", () => {
  function* busySteps(): Steps<string> {
    for (let count = 0; count < 5; count += 1) {
      const end = performance.now() + 10;
      while (performance.now() < end);
      yield;
    }
    return "done";
  }

  test("give the event loop back between slices", async () => {
    let phases = 0;
    let isDone = false;
    const countPhases = (): void => {
      phases += 1;
      if (!isDone) setImmediate(countPhases);
    };
    setImmediate(countPhases);
    expect(await runInSlices(busySteps())).toBe("done");
    isDone = true;
    expect(phases).toBeGreaterThanOrEqual(5);
  });

  test("run at once", () => expect(runSteps(busySteps())).toBe("done"));
});
