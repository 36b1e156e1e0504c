import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, type Child } from "./child.ts";
import { serverCommand } from "./pin.ts";

/** A server that gets the same requests, in front of the same v4 service. */
export interface Target {
  readonly name: string;
  readonly server: Child;
  readonly authorization: string;
}

export interface BenchSetup {
  readonly upstream: Child;
  /** The peer comes last. */
  readonly targets: readonly Target[];
}

/** Any token will do: the upstream doesn't look. */
const TOKEN = "0123456789abcdef0123456789abcdef";
export const ALPHA = `token ${TOKEN}`;
export const NATIVE = `Bearer ${TOKEN}`;

const LISTENING = /^Listening (\S+)/m;

/** @param args see `upstream.ts` */
export const startUpstream = (...args: readonly string[]): Promise<Child> =>
  startChild({ script: "upstream.ts", args, ready: LISTENING });

/** @param kind see `peer.ts` */
export const startPeer = ({ url }: Child, kind: "none" | "express" | "chain" = "express"): Promise<Child> =>
  startChild({ script: "peer.ts", args: [url, kind], ready: LISTENING, prefix: serverCommand() });

const REPOSITORY = join(import.meta.dirname, "..");

export interface GatewayOptions {
  readonly upstream: Child;
  readonly audit: string;
  /** For its data. */
  readonly folder: string;
  /** Measure `dist/`, which is what is installed, and not the sources. */
  readonly built: boolean;
  /** The repository, where it is not this one. Its own mapping pack is used. */
  readonly root?: string;
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export function startGateway(options: GatewayOptions): Promise<Child> {
  const { upstream, audit, folder, built, root = REPOSITORY, nodeArgs = [], env } = options;
  return startChild({
    script: join(root, built ? "dist/main.js" : "src/main.ts"),
    args: ["serve"],
    nodeArgs,
    prefix: serverCommand(),
    env: {
      MAPPINGS_DIR: join(root, "mappings"),
      PORT: "0",
      ADMIN_PORT: "off",
      UPSTREAM_URL: upstream.url,
      DATA_DIR: join(folder, audit),
      AUDIT: audit,
      RATE_LIMIT: "999999999/120",
      LOG_LEVEL: "warn",
      ...env,
    },
    // On a machine so busy that the catalogs are late it says "Running" first.
    ready: /^Gateway +(\S+)[^]*^(?:Ready|Running)/m,
  });
}

/** Runs something with a folder of its own and the processes it starts; both are gone afterwards. */
export async function withChildren<T>(
  run: (keep: (child: Promise<Child>) => Promise<Child>, folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const started: Child[] = [];
  const keep = async (child: Promise<Child>): Promise<Child> => {
    started.push(await child);
    return child;
  };
  try {
    return await run(keep, folder);
  } finally {
    await Promise.all(started.map((child) => child.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts all of them; they stay up for the whole of the run and are loaded one at a time. */
export function withSetup<T>(built: boolean, run: (setup: BenchSetup) => Promise<T>): Promise<T> {
  return withChildren(async (keep, folder) => {
    const upstream = await keep(startUpstream());
    const off = await keep(startGateway({ upstream, audit: "off", folder, built }));
    const metadata = await keep(startGateway({ upstream, audit: "metadata", folder, built }));
    const full = await keep(startGateway({ upstream, audit: "full", folder, built }));
    const peer = await keep(startPeer(upstream));
    const targets = [
      { name: "alpha pipeline, AUDIT=off", server: off, authorization: ALPHA },
      { name: "alpha pipeline, AUDIT=metadata", server: metadata, authorization: ALPHA },
      { name: "alpha pipeline, AUDIT=full", server: full, authorization: ALPHA },
      { name: "native proxy, AUDIT=off", server: off, authorization: NATIVE },
      { name: "native proxy, AUDIT=metadata", server: metadata, authorization: NATIVE },
      { name: "native proxy, AUDIT=full", server: full, authorization: NATIVE },
      { name: "bare pass-through (the peer)", server: peer, authorization: NATIVE },
    ];
    return run({ upstream, targets });
  });
}
