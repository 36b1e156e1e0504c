import { parseArgs } from "node:util";
import { startSandbox } from "../sandbox/sandbox.ts";
import { readSeedFile } from "../sandbox/seed/seed-file.ts";
import { parseProductWords } from "../config/product-words.ts";
import { waitForShutdownSignal } from "./shutdown-signal.ts";
import { UsageError } from "./usage-error.ts";

const HELP = `alpha-gateway sandbox [--host ADDRESS] [--port PORT] [--auth-port PORT] [--words vm=vm,orch=orch]
                      [--seed FILE] [--weekly-wipe]

Runs the v4 sandbox alone, on http://127.0.0.1:8090 unless told otherwise, and its login server on the port after
that. The file, YAML or JSON, adds accounts
to the two there are. With --weekly-wipe everything is wiped each Sunday at midnight, Eastern Time, and seeded anew.
`;

function portOf(flag: string, text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageError(`--${flag}: "${text}" is no port`);
  return Number(text);
}

/** `alpha-gateway sandbox`: runs until a signal. */
export async function sandbox(args: readonly string[]): Promise<number> {
  const options = {
    host: { type: "string" },
    port: { type: "string" },
    "auth-port": { type: "string" },
    words: { type: "string" },
    seed: { type: "string" },
    "weekly-wipe": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { host = "127.0.0.1", words = process.env["WORDS"] ?? "vm=vm" } = values;
  const port = portOf("port", values.port ?? "8090");
  const authPort = portOf("auth-port", values["auth-port"] ?? String(port === 0 ? 0 : port + 1));
  const running = await startSandbox({
    host,
    port,
    authPort,
    words: parseProductWords(words),
    data: values.seed === undefined ? undefined : await readSeedFile(values.seed),
    weeklyWipe: values["weekly-wipe"],
  });
  const { id, secret } = running.application() ?? {};
  const client = id === undefined ? [] : [`OAuth client ${id}, secret ${String(secret)}`];
  const tokens = Object.entries(running.tokens).map(([name, token]) => `  ${name.padEnd(9)} ${token}`);
  process.stdout.write(
    [
      `v4 sandbox   ${running.url}`,
      `Login server ${running.authUrl}`,
      ...client,
      "Tokens",
      ...tokens,
      "",
    ].join("\n"),
  );
  await waitForShutdownSignal();
  await running.close();
  return 0;
}
