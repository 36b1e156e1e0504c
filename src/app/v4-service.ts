import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Settings } from "../config/schema.ts";

/** The v4 service to talk to: the one of the settings, or the embedded sandbox. */
export interface V4Service {
  readonly origin: URL;
  /** Its login server; undefined where a real service is used without one. */
  readonly authOrigin: URL | undefined;
  /** The embedded sandbox, where that is the service. */
  readonly sandbox: Sandbox | undefined;
  close(): Promise<void>;
}

/** @throws {SeedFault} for a seed file that can't be used. */
export async function v4Service({
  UPSTREAM_URL,
  AUTH_URL,
  WORDS,
  SEED,
}: Pick<Settings, "UPSTREAM_URL" | "AUTH_URL" | "WORDS" | "SEED">): Promise<V4Service> {
  if (UPSTREAM_URL) {
    return { origin: UPSTREAM_URL, authOrigin: AUTH_URL, sandbox: undefined, close: async () => {} };
  }
  const [{ startSandbox }, { readSeedFile }] = await Promise.all([
    import("../sandbox/sandbox.ts"),
    import("../sandbox/seed/seed-file.ts"),
  ]);
  const data = SEED === undefined ? undefined : await readSeedFile(SEED);
  const sandbox = await startSandbox({ words: WORDS, data });
  return {
    origin: new URL(sandbox.url),
    authOrigin: AUTH_URL ?? new URL(sandbox.authUrl),
    sandbox,
    close: () => sandbox.close(),
  };
}
