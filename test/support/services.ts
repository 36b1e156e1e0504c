import { describe, expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { FAKETIME } from "./set-clock.ts";
import { canMount } from "./small-disk.ts";

const found = async (paths: readonly string[]): Promise<boolean> => paths.some((path) => existsSync(path));

/** A service that tests use if it is available: a server, a program, or a permission. */
const SERVICES = {
  redis: () => canConnect(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", 6379),
  postgres: () =>
    canConnect(process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres", 5432),
  chromium: () => found(["/usr/bin/chromium"]),
  "redis-server": () => found(["/usr/bin/redis-server", "/usr/local/bin/redis-server"]),
  nginx: () => found(["/usr/sbin/nginx"]),
  haproxy: () => found(["/usr/sbin/haproxy"]),
  mount: async () => canMount(),
  script: () => found(["/usr/bin/script"]),
  promtool: () => found(["/usr/bin/promtool"]),
  faketime: async () => FAKETIME !== undefined,
} as const;

export type Service = keyof typeof SERVICES;

/** Comma-separated services whose tests must not be skipped. CI names all of them. */
const required = (process.env["REQUIRED_SERVICES"] ?? "").split(",");

/**
 * `describe` where the services are there, `describe.skip` (named at the end of the run) where one isn't.
 * A service that `REQUIRED_SERVICES` names and that is missing is a failing test, never a skipped one.
 */
export async function describeWith(
  ...services: readonly Service[]
): Promise<typeof describe | typeof describe.skip> {
  let complete = true;
  for (const service of services) {
    if (await SERVICES[service]()) continue;
    complete = false;
    if (!required.includes(service)) continue;
    test(`${service} responds, as REQUIRED_SERVICES requires`, () => {
      expect(service).toBe("an available service");
    });
  }
  return complete ? describe : describe.skip;
}

function canConnect(url: string, usualPort: number): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || usualPort), timeout: 1000 });
    const end = (there: boolean) => {
      socket.destroy();
      resolve(there);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}
