import { isObserving, type Log, type Settings, SettingsError } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { Sandbox } from "../../sandbox/index.ts";

/** The v4 service: the configured one, or the embedded sandbox. */
export interface V4Service {
  readonly origin: URL;
  /** The login server. Undefined if the settings only name a v4 service. */
  readonly authOrigin: URL | undefined;
  /** The embedded sandbox, if it is used. */
  readonly sandbox: Sandbox | undefined;
  close(): Promise<void>;
}

/** Returns the v4 calls of a pack, with an example value for each parameter. */
const v4Calls = ({ routes, dialect }: Pack): { readonly method: string; readonly path: string }[] =>
  routes.flatMap(({ source }) => {
    if (!("call" in source)) return [];
    const { method, template } = source.call;
    return [
      {
        method,
        path: dialect.upstream.base_path + template.replace(/\?.*/, "").replaceAll(/\{[^{}]*\}/g, "1"),
      },
    ];
  });

/** Warns if the base path occurs twice, because every call would be a 404. It may be intended, so the gateway starts. */
function hintAtRepeatedPath({ href }: URL, { dialect }: Pack, log: Log): void {
  const { base_path: path } = dialect.upstream;
  const base = href.replace(/\/$/, "");
  if (path === "" || !base.endsWith(path)) return;
  log.warn(
    { code: "AG_UPSTREAM_URL_PATH" },
    `UPSTREAM_URL ends in ${path}, and the gateway appends ${path}: try ${base.slice(0, -path.length)}`,
  );
}

/**
 * Opens the v4 service.
 *
 * @throws {SeedError} If the seed file is invalid.
 * @throws {SettingsError} If the sandbox supports no call of the pack.
 */
export async function openV4(settings: Settings, pack: Pack, log: Log): Promise<V4Service> {
  const { LEGACY_URL, UPSTREAM_URL, AUTH_URL, WORDS, SEED } = settings;
  // If there is no pack, v4 is never called, so no sandbox is opened.
  if (LEGACY_URL && isObserving(settings))
    return { origin: LEGACY_URL, authOrigin: undefined, sandbox: undefined, close: async () => {} };
  if (UPSTREAM_URL) hintAtRepeatedPath(UPSTREAM_URL, pack, log);
  if (UPSTREAM_URL)
    return { origin: UPSTREAM_URL, authOrigin: AUTH_URL, sandbox: undefined, close: async () => {} };
  // This module is only loaded if it is used.
  const { readSeedFile, startSandbox } = await import("../../sandbox/index.ts");
  const data = SEED === undefined ? undefined : await readSeedFile(SEED);
  const sandbox = await startSandbox({ words: WORDS, data });
  const calls = v4Calls(pack);
  const [call] = calls;
  if (call && !calls.some(({ method, path }) => sandbox.serves(method, path))) {
    await sandbox.close();
    throw new SettingsError([
      `UPSTREAM_URL is missing: this pack is for another service than the embedded sandbox, which has no ${call.method} ${call.path}`,
    ]);
  }
  return {
    origin: new URL(sandbox.url),
    authOrigin: AUTH_URL ?? new URL(sandbox.authUrl),
    sandbox,
    close: () => sandbox.close(),
  };
}
