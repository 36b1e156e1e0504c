import type { Settings } from "../settings/table.ts";

/** The v4 service to talk to: the one of the settings, or the embedded sandbox. */
export interface V4Service {
  readonly origin: URL;
  /** A token that works, of the embedded sandbox alone. */
  readonly token: string | undefined;
  close(): Promise<void>;
}

export async function v4Service({
  UPSTREAM_URL,
  WORDS,
}: Pick<Settings, "UPSTREAM_URL" | "WORDS">): Promise<V4Service> {
  if (UPSTREAM_URL) return { origin: UPSTREAM_URL, token: undefined, close: async () => {} };
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const sandbox = await startSandbox({ words: WORDS });
  return { origin: new URL(sandbox.url), token: sandbox.tokens.full, close: () => sandbox.close() };
}
