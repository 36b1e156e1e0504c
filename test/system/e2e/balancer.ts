/** Debian's haproxy with the configuration from deploy/, in front of local gateways. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY, type Serving } from "./program.ts";

export interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

const port = (url: string): string => new URL(url).port;

/** Replaces the addresses of the composition with local ones. @throws {Error} if one is missing. */
function moved(listen: number, [one, two]: readonly [Serving, Serving]): string {
  const moves: [RegExp, string][] = [
    [/bind :8080/g, `bind 127.0.0.1:${listen}`],
    [/ check port 8081 /g, " check "],
    [/gateway-1:8080/g, `127.0.0.1:${port(one.url)} port ${port(one.admin)}`],
    [/gateway-2:8080/g, `127.0.0.1:${port(two.url)} port ${port(two.admin)}`],
  ];
  let text = readFileSync(join(REPOSITORY, "deploy/haproxy.cfg"), "utf8");
  for (const [from, to] of moves) {
    if (text.search(from) < 0) throw new Error(`${from} is nowhere in deploy/haproxy.cfg`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Starts it. It serves a moment later. */
export async function startBalancer(gateways: readonly [Serving, Serving]): Promise<Balancer> {
  const listen = await freePort();
  const file = join(temporaryFolder(), "haproxy.cfg");
  writeFileSync(file, moved(listen, gateways));
  const process = spawn("/usr/sbin/haproxy", ["-f", file, "-db", "-q"], { stdio: "ignore" });
  const ended = once(process, "close");
  return {
    url: `http://127.0.0.1:${listen}`,
    async stop() {
      process.kill("SIGKILL");
      await ended;
    },
  };
}
