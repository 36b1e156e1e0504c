/** `npm run fuzz -- worst`: see HELP of fuzz/main.ts. Runs in a separate process, with the Node flags of `npm start`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { random } from "../random.ts";
import { startCostBench } from "./cost-bench.ts";
import { costTable, isTooDear, shapeOf, withWorst } from "./section.ts";
import { places } from "./places.ts";
import { search } from "./search.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    page: { type: "string" },
  },
});

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const { candidates, lists } = places("mappings");
const wanted = candidates.filter(({ of, where }) => `${of} ${where}`.includes(values.only));
const bench = await startCostBench(lists);
try {
  const worst = await search(bench, wanted, {
    runs: Number(values.runs),
    random: random(Number(values.seed)),
    collect,
    report: (text) => process.stderr.write(`${text}\n`),
  });
  for (const { of, time, memory } of worst) {
    process.stdout.write(
      `${time.cost.ms.toFixed(1).padStart(8)} ms ${memory.cost.mb.toFixed(1).padStart(8)} MB  ${of}\n` +
        `${" ".repeat(22)}${shapeOf(time.input)}\n${" ".repeat(22)}${shapeOf(memory.input)}\n`,
    );
  }
  if (values.page !== undefined) {
    const earlier = existsSync(values.page) ? readFileSync(values.page, "utf8") : "";
    writeFileSync(values.page, withWorst(earlier, worst));
    writeFileSync(join(dirname(values.page), "costs.tsv"), costTable(worst));
  }
  process.exitCode = worst.some(isTooDear) ? 1 : 0;
} finally {
  await bench.stop();
}
