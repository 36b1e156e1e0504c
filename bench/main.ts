import { availableParallelism } from "node:os";
import { keepAwake } from "./awake.ts";
import { measureAll, upstreamState, type Measurement, type UpstreamState } from "./measure.ts";
import { compareWith } from "./compare.ts";
import { growthReport, measureGrowth, measureMemory, memoryReport } from "./memory.ts";
import { startLoader, type Loader } from "./loader.ts";
import { HELP, readOptions, type BenchOptions } from "./options.ts";
import { pinProcesses } from "./pin.ts";
import { redactionReport } from "./redaction.ts";
import { faults, report } from "./report.ts";
import { startTimes } from "./start-time.ts";
import { translationReport } from "./translation.ts";
import { withSetup } from "./targets.ts";

/** Describes the machine and the options, since everything runs on one machine. */
const setting = (
  { processes, rounds, measureMs, leadInMs, connections, rate, built }: BenchOptions,
  { listBytes }: UpstreamState,
  isAwake: boolean,
): string =>
  [
    `Node ${process.version}, ${availableParallelism()} processors, which client, server and v4 share. They ${isAwake ? "never" : "may"} sleep.`,
    `The gateway runs from ${built ? "dist/" : "src/"}.`,
    `Medians of ${processes} processes of each setting, started one after the other; rounds of each: ${rounds}.`,
    `req/s, CPU and v4 calls: ${connections} connections for ${measureMs / 1000} s, each`,
    `sending its next request when the last has ended, after ${leadInMs / 1000} s of the same load that does not count.`,
    `p50 and p99: as long at ${rate} requests a second, started on time.`,
    `v4's list is ${listBytes} bytes, and no two of its responses in a row are alike. CPU and RSS are the server's`,
    `process alone; "x peer" compares CPU.`,
    "",
    "",
  ].join("\n");

const print = (text: string): void => void process.stdout.write(text);

/** Starts all targets, measures them, and stops them. */
function measureSet(
  loader: Loader,
  options: BenchOptions,
  describe: (state: UpstreamState) => void,
): Promise<Measurement[]> {
  return withSetup(options.built, async (setup) => {
    const state = await upstreamState(setup);
    describe(state);
    const requestKinds = [
      { name: "List of 25 instances", path: "/v4/vm/instances" },
      { name: "List, unknown images", path: "/v4/vm/instances?page=2" },
      { name: "A disk", path: state.disk },
      { name: "An instance: 3 v4 calls", path: state.one },
    ];
    return measureAll(setup, loader, requestKinds, options);
  });
}

/** The table; the exit code is 1 where any request failed. */
async function compare(loader: Loader, options: BenchOptions, isAwake: boolean): Promise<number> {
  const measurements: Measurement[] = [];
  for (let set = 0; set < options.processes; set += 1) {
    const describe = (state: UpstreamState): void =>
      set === 0 ? print(setting(options, state, isAwake)) : undefined;
    measurements.push(...(await measureSet(loader, options, describe)));
  }
  print(report(measurements));
  const met = faults(measurements);
  if (met.length > 0) print(`\nRequests failed:\n${met.join("\n")}\n`);
  return met.length > 0 ? 1 : 0;
}

async function bench(options: BenchOptions): Promise<number> {
  if (options.translation) {
    print(await translationReport(options.rounds));
    return 0;
  }
  if (options.redaction) {
    print(await redactionReport(options.rounds));
    return 0;
  }
  const isAwake = keepAwake();
  if (options.pin) pinProcesses();
  const loader = startLoader();
  try {
    if (options.compare !== undefined) {
      const loaders = [loader, startLoader()] as const;
      try {
        await compareWith(options.compare, loaders, options, (line) => print(`${line}\n`));
      } finally {
        loaders[1].stop();
      }
      return 0;
    }
    const code = options.rounds > 0 ? await compare(loader, options, isAwake) : 0;
    if (options.starts > 0) print(`\n${await startTimes(loader, options)}\n`);
    if (options.memoryMs > 0)
      print(memoryReport(await measureMemory(loader, options, (row) => print(`${row}\n`)), options));
    if (options.growthMs > 0) print(`\n${growthReport(await measureGrowth(loader, options))}`);
    return code;
  } finally {
    loader.stop();
  }
}

// Children are killed when this process exits; a signal alone would leave them behind.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const options = readOptions(process.argv.slice(2));
if (options) process.exitCode = await bench(options);
else process.stdout.write(HELP);
