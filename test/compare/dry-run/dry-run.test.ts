import { afterEach, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { createDryRun, type DryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const folder = writeSmallPack({});
const pack = loadPack(folder);

let run: DryRun | undefined;
afterEach(() => run?.catalogs.stop());

/** A dry run whose responses come in the order in which a test lets them come. */
function createSlowRun(nameOf: (path: string) => unknown): { run: DryRun; respond: Map<string, () => void> } {
  const respond = new Map<string, () => void>();
  run = createDryRun(pack, {
    async call({ path }) {
      await new Promise<void>((resolve) => respond.set(path, resolve));
      if (nameOf(path) === undefined) throw new TypeError("a bug");
      const bytes = Buffer.from(JSON.stringify({ id: Number(path.split("/").at(-1)), name: nameOf(path) }));
      return { status: 200, headers: {}, bytes, ms: 0 };
    },
    close: () => Promise.resolve(),
  });
  return { run, respond };
}

async function sendBoth(
  nameOf: (path: string) => unknown,
): Promise<readonly PromiseSettledResult<Awaited<ReturnType<DryRun["send"]>>>[]> {
  const { run: both, respond } = createSlowRun(nameOf);
  const sent = [1, 2].map((id) => both.send({ method: "GET", path: `/books/${id}` }));
  const results = Promise.allSettled(sent);
  while (respond.size < 2) await new Promise(setImmediate);
  respond.get("/items/2")?.();
  respond.get("/items/1")?.();
  return results;
}

test("two requests at once have each their own response and context", async () => {
  const results = await sendBoth((path) => `book of ${path}`);
  const found = results.map((each) =>
    each.status === "fulfilled"
      ? [JSON.parse(each.value.response.body).id, each.value.context.upstream?.calls.map(({ path }) => path)]
      : each.reason,
  );
  expect(found).toEqual([
    [1, ["/items/1"]],
    [2, ["/items/2"]],
  ]);
});

test("an error of one request is not that of another one at the same time", async () => {
  const results = await sendBoth((path) => (path === "/items/2" ? undefined : "Emma"));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});
