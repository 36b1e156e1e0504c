import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, type Child } from "./child.ts";

/** Something that answers the same requests before the same v4 service. */
export interface Target {
  readonly name: string;
  readonly server: Child;
  readonly authorization: string;
}

export interface Field {
  readonly upstream: Child;
  /** The peer comes last. */
  readonly targets: readonly Target[];
  stop(): Promise<void>;
}

/** Any token will do: the upstream doesn't look. */
const TOKEN = "0123456789abcdef0123456789abcdef";

const LISTENING = /^Listening (\S+)/m;

function startGateway(upstream: Child, audit: string, folder: string): Promise<Child> {
  return startChild({
    script: "../src/main.ts",
    args: ["serve"],
    env: {
      PORT: "0",
      ADMIN_PORT: "off",
      UPSTREAM_URL: upstream.url,
      DATA_DIR: join(folder, audit),
      AUDIT: audit,
      RATE_LIMIT: "999999999/120",
      LOG_LEVEL: "warn",
    },
    ready: /^Gateway +(\S+)[^]*^Ready\./m,
  });
}

/** Starts all of them; they stay up for the whole run and are loaded one at a time. */
export async function startField(): Promise<Field> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const started: Child[] = [];
  const keep = async (child: Promise<Child>): Promise<Child> => {
    started.push(await child);
    return child;
  };
  async function stop(): Promise<void> {
    await Promise.all(started.map((child) => child.stop()));
    await rm(folder, { recursive: true, force: true });
  }
  try {
    const upstream = await keep(startChild({ script: "upstream.ts", ready: LISTENING }));
    const metadata = await keep(startGateway(upstream, "metadata", folder));
    const full = await keep(startGateway(upstream, "full", folder));
    const peer = await keep(startChild({ script: "peer.ts", args: [upstream.url], ready: LISTENING }));
    const [alpha, native] = [`token ${TOKEN}`, `Bearer ${TOKEN}`];
    const targets = [
      { name: "alpha lane, AUDIT=metadata", server: metadata, authorization: alpha },
      { name: "alpha lane, AUDIT=full", server: full, authorization: alpha },
      { name: "native lane, AUDIT=metadata", server: metadata, authorization: native },
      { name: "bare pass-through (the peer)", server: peer, authorization: native },
    ];
    return { upstream, targets, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
