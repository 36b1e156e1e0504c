import { availableParallelism } from "node:os";
import { measureAll, upstreamState } from "./measure.ts";
import { startLoader } from "./loader.ts";
import { HELP, readOptions, type BenchOptions } from "./options.ts";
import { faults, report } from "./report.ts";
import { startField } from "./targets.ts";

/** Everything runs on this one machine, so it must be said what that is. */
const setting = ({ rounds, measureMs, connections }: BenchOptions, listBytes: number): string =>
  [
    `Node ${process.version}, ${availableParallelism()} processors, which client, server and v4 share.`,
    `Medians of ${rounds} rounds of ${measureMs / 1000} s; ${connections} connections, each asking again when answered.`,
    `v4's list is ${listBytes} bytes. CPU and RSS are the server's process alone; "x peer" compares CPU.`,
    "",
    "",
  ].join("\n");

/** The exit code: 1 where any request failed. */
async function bench(options: BenchOptions): Promise<number> {
  const field = await startField();
  const loader = startLoader();
  try {
    const { one, listBytes } = await upstreamState(field);
    process.stdout.write(setting(options, listBytes));
    const asks = [
      { name: "List of 25", path: "/v4/vm/instances" },
      { name: "One object", path: one },
    ];
    const measurements = await measureAll(field, loader, asks, options);
    process.stdout.write(report(measurements));
    const met = faults(measurements);
    if (met.length > 0) process.stdout.write(`\nRequests failed:\n${met.join("\n")}\n`);
    return met.length > 0 ? 1 : 0;
  } finally {
    loader.stop();
    await field.stop();
  }
}

// Children are killed when this process exits; a signal alone would leave them behind.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const options = readOptions(process.argv.slice(2));
if (options) process.exitCode = await bench(options);
else process.stdout.write(HELP);
