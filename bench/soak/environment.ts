import { cp } from "node:fs/promises";
import { join } from "node:path";
import { startChild, type Child } from "../child.ts";
import { startGateway } from "../targets.ts";

/** The gateway under load, and where its clients and its operator find things. */
export interface SoakEnvironment {
  readonly gateway: Child;
  readonly adminUrl: string;
  /** Of the gateway's inspector. */
  readonly inspectorUrl: string;
  /** Its own copy of the pack, which may be changed. */
  readonly pack: string;
  readonly tokens: {
    /** May do everything in the main account. */
    readonly full: string;
    /** The same in another account. */
    readonly other: string;
  };
}

/**
 * Reached within the first minute, so that the audit of a longer run is as large at its end; the caches likewise.
 * Nobody reaches a limit but who creates too often.
 */
export const SETTINGS = {
  AUDIT: "full",
  AUDIT_SIZE_LIMIT: "64mb",
  TOKEN_CACHE_SIZE: "100",
  RATE_LIMIT: "999999999/10",
  RATE_LIMIT_CREATE: "1/30",
};

/** Access tokens of the login server end so soon that each is renewed many times. */
export const tokenSecondsOf = (seconds: number): number => Math.min(60, Math.ceil(seconds / 3));

const after = ({ printed }: Child, words: string): string =>
  new RegExp(`^${words} +(\\S+)`, "m").exec(printed)?.[1] ?? "";

/** Starts v4 with its login server, and the gateway before them. */
export async function startEnvironment(
  keep: (child: Promise<Child>) => Promise<Child>,
  folder: string,
  tokenSeconds: number,
): Promise<SoakEnvironment> {
  const upstream = await keep(
    startChild({ script: "soak/service.ts", args: [String(tokenSeconds)], ready: /^Listening (\S+)/m }),
  );
  const pack = join(folder, "pack");
  await cp(join(import.meta.dirname, "../../mappings"), pack, { recursive: true });
  const env = { ...SETTINGS, ADMIN_PORT: "0", AUTH_URL: after(upstream, "Login"), MAPPINGS_DIR: pack };
  const { AUDIT: audit } = SETTINGS;
  const nodeArgs = ["--inspect=127.0.0.1:0"];
  const gateway = await keep(startGateway({ upstream, audit, folder, built: false, env, nodeArgs }));
  return {
    gateway,
    adminUrl: after(gateway, "Admin"),
    inspectorUrl: after(gateway, "Debugger listening on"),
    pack,
    tokens: { full: after(upstream, "Full"), other: after(upstream, "Other") },
  };
}
