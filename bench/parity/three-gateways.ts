/** Parts 5 and 6 with real processes: three gateways with one Redis, in front of the sandbox and of an old service. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRedisServer, sharedBy } from "../../test/support/redis-server.ts";
import { startChild, type Child } from "../child.ts";
import { startGateway, withChildren } from "../targets.ts";
import {
  ask,
  ROLLOUT,
  warmUp,
  watchReturn,
  writeMistakenPack,
  type Address,
  type ReturnSeen,
} from "./turn-back.ts";

const LISTENING = /^Listening (\S+)/m;
const REPLICAS = [0, 1, 2];
const CLIENTS = 1000;

/** A gateway that listens, as a process. */
interface Replica extends Address {
  readonly child: Child;
}

/** What three gateways have shown. */
export interface ThreeGateways extends ReturnSeen {
  /** Whether the old service still answers on all of them after a restart of all. */
  readonly isKept: boolean;
  /** Clients of each gateway that get the translation at 10 %, at 10 % after a restart, and at 20 %. */
  readonly clients: readonly (readonly (readonly string[])[])[];
}

async function namesOf({ admin }: Address): Promise<readonly string[]> {
  const { rollout } = (await (await fetch(`${admin}/api/rollout`)).json()) as {
    readonly rollout: { readonly clients: readonly { readonly name: string; readonly side: string }[] };
  };
  return rollout.clients.filter(({ side }) => side === "new").map(({ name }) => name);
}

/** Starts three gateways with a mistake in their pack, and sees its route return; then reads who has a share of the clients. */
export const measureThreeGateways = (): Promise<ThreeGateways> =>
  withChildren(async (keep, folder) => {
    const redis = await createRedisServer();
    await redis.start();
    try {
      const v4 = await keep(startChild({ script: "parity/v4-service.ts", ready: LISTENING }));
      const authorization = `token ${/^Token (\S+)/m.exec(v4.printed)?.[1]}`;
      const shared = { upstream: v4, audit: "metadata", built: false } as const;
      const old = await keep(startGateway({ ...shared, folder: join(folder, "old") }));
      const [pack, rollout, clients] = ["pack", "rollout.yaml", "clients.yaml"].map((name) =>
        join(folder, name),
      ) as [string, string, string];
      mkdirSync(pack);
      writeMistakenPack(pack);
      writeFileSync(clients, Array.from({ length: CLIENTS }, (_, index) => `client-${index}: {}\n`).join(""));
      const env = {
        ...sharedBy(redis),
        ADMIN_PORT: "0",
        LEGACY_URL: old.url,
        MAPPINGS_DIR: pack,
        ROLLOUT_FILE: rollout,
        CLIENTS_FILE: clients,
      };
      const start = async (index: number): Promise<Replica> => {
        const child = await keep(startGateway({ ...shared, folder: join(folder, String(index)), env }));
        return { child, url: child.url, admin: /^Admin +(\S+)/m.exec(child.printed)?.[1] ?? "" };
      };
      const startAll = async (text: string): Promise<Replica[]> => {
        writeFileSync(rollout, text);
        return Promise.all(REPLICAS.map(start));
      };
      const stopAll = (replicas: readonly Replica[]): Promise<unknown> =>
        Promise.all(replicas.map(({ child }) => child.stop()));

      let replicas = await startAll(ROLLOUT);
      await warmUp(replicas, authorization);
      const seen = await watchReturn(replicas, authorization);
      await stopAll(replicas);
      replicas = await startAll(ROLLOUT);
      const sides = await Promise.all(replicas.map((replica) => ask(replica, authorization)));
      const names: (readonly (readonly string[])[])[] = [];
      for (const share of ["10%", "10%", "20%"]) {
        await stopAll(replicas);
        replicas = await startAll(`data: shared\nnew: [{ share: ${share} }]\n`);
        names.push(await Promise.all(replicas.map(namesOf)));
      }
      return { ...seen, isKept: sides.every((side) => side === "old"), clients: names };
    } finally {
      await redis.stop();
    }
  });
