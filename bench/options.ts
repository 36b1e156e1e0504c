import { parseArgs } from "node:util";

export interface BenchOptions {
  readonly rounds: number;
  /** Of one measurement: one target, one kind of request, one round. */
  readonly measureMs: number;
  /** Of each target and kind of request before the first round, for the compiler to settle. */
  readonly warmUpMs: number;
  readonly connections: number;
}

const THOROUGH: BenchOptions = { rounds: 5, measureMs: 1500, warmUpMs: 1200, connections: 32 };

/** Shows that it all runs; its numbers are rough. */
const QUICK: BenchOptions = { rounds: 2, measureMs: 400, warmUpMs: 300, connections: 16 };

export const HELP = `npm run bench -- [--quick] [--rounds N] [--seconds N] [--connections N]

Loads the gateway, and a bare Express pass-through beside it, with the same requests before the same v4 service.
Takes some 80 seconds; --quick some 15.
`;

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name}: "${text}" is not a number above 0`);
  return number;
}

/** Undefined: help was asked for. @throws {Error} for a flag that isn't one. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return undefined;
  const base = values.quick ? QUICK : THOROUGH;
  const given = (name: "rounds" | "seconds" | "connections", fallback: number): number =>
    values[name] === undefined ? fallback : positive(name, values[name]);
  return {
    ...base,
    rounds: Math.ceil(given("rounds", base.rounds)),
    measureMs: given("seconds", base.measureMs / 1000) * 1000,
    connections: Math.ceil(given("connections", base.connections)),
  };
}
