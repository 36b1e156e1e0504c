/** The search for the most expensive request, `npm run fuzz -- worst`, in short form. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { random } from "../../../fuzz/random.ts";
import type { CostBench } from "../../../fuzz/worst/cost-bench.ts";
import { costTable, HEADING, splitPage, withWorst } from "../../../fuzz/worst/section.ts";
import { bytesOf } from "../../../fuzz/worst/raw-request.ts";
import { search, type Worst } from "../../../fuzz/worst/search.ts";
import { grow, type Pump } from "../../../fuzz/worst/text.ts";

const pump: Pump = { before: "[", unit: "{},", after: "0]" };

/** Searches a route whose cost is `cost` of the body. */
const find = (cost: (body: string) => { ms: number; mb: number }): Promise<Worst[]> => {
  const bench: CostBench = {
    async measure(request, _responses, { limits } = {}) {
      const [, body = ""] = bytesOf(request, limits ?? { body: 1_000_000, head: 16_000 }).split("\r\n\r\n");
      return { ...cost(body), response: { status: 200, bytes: 0, beginning: "" } };
    },
    stop: async () => undefined,
  };
  const candidate = {
    of: "POST /things",
    where: "body",
    pump,
    request: (body: Pump) => ({ method: "POST", target: "/things", headers: [], body }),
    responses: [],
  };
  return search(bench, [candidate], { runs: 500, random: random(1), collect: () => {}, report: () => {} });
};

describe("the search for the most expensive request", () => {
  test("finds the slowest request by time, just below a limit", async () => {
    const [worst] = await find((body) => ({ ms: body.length > 90_000 ? 0 : body.length / 1000, mb: 0 }));
    expect(worst?.time.cost.ms).toBeGreaterThan(80);
  });

  test("finds another one by bytes", async () => {
    const [worst] = await find((body) => ({
      ms: body.length / 1000,
      mb: body.includes('{"') ? 100 + body.length / 1e6 : 1,
    }));
    expect(worst?.memory.cost.mb).toBeGreaterThan(100);
  });

  test("generates text of a size, and distinct keys", () => {
    expect(grow(pump, 12)).toBe("[{},{},{},0]");
    expect(grow({ before: "", unit: '"#":0,', after: "" }, 20)).toBe('"0":0,"1":0,"2":0,');
    expect(grow("é", 1)).toBe("\u00c3\u00a9");
  });

  test("writes its table, and its section at the end of the page in place of an earlier one", async () => {
    const worst = await find(() => ({ ms: 1, mb: 2 }));
    const page = withWorst("# Hostile input\n", worst);
    expect(page).toMatch(
      /^# Hostile input\n\n## Cost of the worst request\n[^]*\n1 rows, at most 1\.0 ms and 2\.0 MB; 0 above the bound\./,
    );
    expect(costTable(worst)).toMatch(/\nPOST \/things\t1\.0\tbody: [^\t\n]*\t2\.0\tbody: [^\t\n]*\n$/);
    expect(withWorst(page, worst)).toBe(page);
    expect(splitPage(page).rest).toBe("# Hostile input\n\n");
  });
});

test("npm run fuzz -- worst measures a gateway and writes the table and the section", () => {
  const folder = mkdtempSync(join(tmpdir(), "worst-"));
  const page = join(folder, "inputs.md");
  writeFileSync(page, "# Hostile input\n");
  try {
    const args = ["fuzz/main.ts", "worst", "--only", "POST /feedback query", "--runs", "20", "--page", page];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    // 1: something costs too much, which a busy machine alone must not turn into a failure here.
    expect({ ended: status === 0 || status === 1, stderr }).toMatchObject({ ended: true });
    expect(readFileSync(page, "utf8")).toContain(`${HEADING}\n`);
    expect(readFileSync(join(folder, "costs.tsv"), "utf8")).toMatch(
      /\nPOST \/feedback\t[\d.]+\tquery: .*\t[\d.]+\tquery: .*\n$/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
