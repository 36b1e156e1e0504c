import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Of each setting, one after the other: V8 compiles the same code differently in each. */
  readonly processes: number;
  /** For each process. */
  readonly rounds: number;
  /** Of one measurement: one target, one kind of request, one round. */
  readonly measureMs: number;
  /** Of each target and kind of request before the first round, in parts, for the compiler to settle. */
  readonly warmUpMs: number;
  /** Of the same load before each measurement, since the server paused while others had theirs. */
  readonly leadInMs: number;
  readonly connections: number;
  /** Requests a second, where what clients wait is measured. */
  readonly rate: number;
  /** Starts of the gateway that are timed. */
  readonly starts: number;
  /** Requests to each of these gateways that are compared with those after the warm-up. */
  readonly firstRequests: number;
  /** Without requests, before as many are compared again. */
  readonly idleMs: number;
  /** Of steady load before resident memory is read; 0: it isn't. */
  readonly memoryMs: number;
  /** Of steady load in all before it is read again. */
  readonly laterMs: number;
  /** Of steady load between two heap snapshots; 0: there are none. */
  readonly growthMs: number;
  /** The gateway as it is installed, from `dist/`, in place of the sources. */
  readonly built: boolean;
  /** Translation alone is measured, and no gateway started. */
  readonly translation: boolean;
  /** Redaction alone is measured, and no gateway started. */
  readonly redaction: boolean;
  /** The servers that are measured have a processor of their own. */
  readonly pin: boolean;
  /** The commit that this working tree is compared with; undefined: with none. */
  readonly compare: string | undefined;
}

type Plan = Omit<BenchOptions, "built" | "translation" | "redaction" | "pin" | "compare">;

const MINUTE_MS = 60_000;

const THOROUGH: Plan = {
  processes: 3,
  rounds: 1,
  measureMs: 3000,
  warmUpMs: 12_000,
  leadInMs: 3000,
  connections: 32,
  rate: 200,
  starts: 3,
  firstRequests: 2000,
  idleMs: 15_000,
  memoryMs: MINUTE_MS,
  laterMs: 10 * MINUTE_MS,
  growthMs: 0,
};

/** Shows that everything runs; its figures are rough. */
const QUICK: Plan = {
  processes: 1,
  rounds: 1,
  measureMs: 250,
  warmUpMs: 200,
  leadInMs: 50,
  connections: 16,
  rate: 100,
  starts: 1,
  firstRequests: 100,
  idleMs: 100,
  memoryMs: 0,
  laterMs: 0,
  growthMs: 0,
};

/** Two commits, in many short rounds, whose extremes show what other load on the machine does. */
const COMPARE: Plan = { ...THOROUGH, rounds: 15, measureMs: 400, warmUpMs: 8000, connections: 16 };

/** Translation or redaction alone, in this process. */
const ALONE: Plan = { ...THOROUGH, rounds: 5 };

/** Memory alone. */
const MEMORY: Plan = { ...THOROUGH, rounds: 0, starts: 0, growthMs: 10 * MINUTE_MS };

export const HELP = `npm run bench -- [--quick | --memory | --translation | --redaction | --compare REF] [--minutes N] [--processes N]
                 [--rounds N] [--seconds N] [--connections N] [--rate N] [--pin]

Loads the gateway, and a bare Express pass-through beside it, with the same requests before the same v4 service.
Takes an hour and a half; --quick some 15 seconds. Memory is read after one minute and after ten, or --minutes.
--memory measures that alone, and then what the heap holds after a minute and after as many more. --translation starts no gateway: it measures
the translation of v4's response, compiled, interpreted, and written by hand. --redaction starts no
gateway either: it measures the redaction of recorded bodies.
--compare REF loads the gateway of this working tree and that of another commit at the same time, and prints the ratios.
--pin gives each server a processor of its own while it is measured, and the other one to client and v4 (Linux). The goals were set so.
`;

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name}: "${text}" is not a number above 0`);
  return number;
}

function baseOf({
  quick,
  memory,
  translation,
  redaction,
  compare,
}: {
  quick?: boolean | undefined;
  memory?: boolean | undefined;
  translation?: boolean | undefined;
  redaction?: boolean | undefined;
  compare?: string | undefined;
}): Plan {
  if (quick) return QUICK;
  if (translation || redaction) return ALONE;
  if (compare !== undefined) return COMPARE;
  return memory ? MEMORY : THOROUGH;
}

/** Undefined: help was asked for. @throws {Error} for a flag that isn't one. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      built: { type: "boolean" },
      quick: { type: "boolean" },
      memory: { type: "boolean" },
      translation: { type: "boolean" },
      redaction: { type: "boolean" },
      pin: { type: "boolean" },
      compare: { type: "string" },
      minutes: { type: "string" },
      processes: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string" },
      rate: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return undefined;
  const base = baseOf(values);
  const given = (
    name: "minutes" | "processes" | "rounds" | "seconds" | "connections" | "rate",
    fallback: number,
  ): number => (values[name] === undefined ? fallback : positive(name, values[name]));
  return {
    ...base,
    laterMs: given("minutes", base.laterMs / MINUTE_MS) * MINUTE_MS,
    growthMs: base.growthMs > 0 ? given("minutes", base.growthMs / MINUTE_MS) * MINUTE_MS : 0,
    built: values.built ?? false,
    translation: values.translation ?? false,
    redaction: values.redaction ?? false,
    pin: values.pin ?? false,
    compare: values.compare,
    processes: Math.ceil(given("processes", base.processes)),
    rounds: Math.ceil(given("rounds", base.rounds)),
    measureMs: given("seconds", base.measureMs / 1000) * 1000,
    connections: Math.ceil(given("connections", base.connections)),
    rate: given("rate", base.rate),
  };
}
