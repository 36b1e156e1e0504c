import { readSeedFile, startSandbox } from "../../sandbox/index.ts";
import type { Settings } from "../../base/index.ts";
import { waitForShutdownSignal } from "./signals.ts";
import { print } from "./terminal.ts";

export interface SandboxFlags {
  readonly host: string;
  readonly port: number;
  readonly authPort?: number;
  /** The path of a seed file. */
  readonly seed?: string;
  readonly weeklyWipe?: true;
}

/** Runs `alpha-gateway sandbox` until a signal. @returns the exit code */
export async function sandbox(flags: SandboxFlags, { WORDS }: Pick<Settings, "WORDS">): Promise<number> {
  const { host, port, authPort = port === 0 ? 0 : port + 1, seed, weeklyWipe = false } = flags;
  const running = await startSandbox({
    host,
    port,
    authPort,
    words: WORDS,
    data: seed === undefined ? undefined : await readSeedFile(seed),
    weeklyWipe,
  });
  const { id, secret } = running.application() ?? {};
  const client = id === undefined ? [] : [`OAuth client ${id}, secret ${String(secret)}`];
  const tokens = Object.entries(running.tokens).map(([name, token]) => `  ${name.padEnd(9)} ${token}`);
  print(
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
