import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { startSandbox } from "../sandbox/sandbox.ts";
import { parseWords } from "../vocabulary/words.ts";
import { stopSignal } from "./signal.ts";
import { UsageError } from "./usage-error.ts";

const HELP = `alpha-gateway sandbox [--host ADDRESS] [--port PORT] [--words vm=vm,orch=orch] [--seed FILE]

Runs the v4 sandbox alone, on http://127.0.0.1:8090 unless told otherwise. The file, YAML or JSON, adds accounts
to the two there are.
`;

/** What a seed file says; what it must say is checked where it is put in. */
async function seedData(file: string | undefined): Promise<unknown> {
  if (file === undefined) return undefined;
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--seed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** `alpha-gateway sandbox`: runs until a signal. */
export async function sandbox(args: readonly string[]): Promise<number> {
  const options = {
    host: { type: "string" },
    port: { type: "string" },
    words: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { host = "127.0.0.1", port = "8090", words = process.env["WORDS"] ?? "vm=vm" } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError(`--port: "${port}" is no port`);
  const data = await seedData(values.seed);
  const running = await startSandbox({ host, port: Number(port), words: parseWords(words), data });
  const tokens = Object.entries(running.tokens).map(([name, token]) => `  ${name.padEnd(9)} ${token}`);
  process.stdout.write([`v4 sandbox   ${running.url}`, "Tokens", ...tokens, ""].join("\n"));
  await stopSignal();
  await running.close();
  return 0;
}
