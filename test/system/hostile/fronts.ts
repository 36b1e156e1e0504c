/** Proxies that run in front of a gateway in production, with usual settings. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isListening } from "../../support/free-port.ts";
import type { Service } from "../../support/services.ts";

/** Where clients knock. */
export interface Front {
  /** The path of its socket. */
  readonly address: string;
  stop(): Promise<void>;
}

interface Kind {
  readonly program: string;
  readonly args: (folder: string) => readonly string[];
  readonly file: string;
  readonly config: (folder: string, gateway: string) => string;
}

/** The proxy reuses keep-alive connections for several clients, so that smuggled requests would affect others. */
const nginx: Kind = {
  program: "/usr/sbin/nginx",
  file: "nginx.conf",
  args: (folder) => ["-p", folder, "-c", "nginx.conf", "-e", "stderr"],
  config: (folder, gateway) => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream gateway {
    server ${gateway};
    keepalive 2;
  }
  server {
    listen unix:${folder}/front;
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`,
};

const haproxy: Kind = {
  program: "/usr/sbin/haproxy",
  file: "haproxy.cfg",
  args: (folder) => ["-db", "-q", "-f", join(folder, "haproxy.cfg")],
  config: (folder, gateway) => `
global
  maxconn 500
defaults
  mode http
  option forwardfor
  timeout connect 10s
  timeout client 60s
  timeout server 60s
frontend clients
  bind unix@${folder}/front
  default_backend gateway
backend gateway
  http-reuse always
  server gateway ${gateway}
`,
};

const KINDS = { nginx, haproxy } as const satisfies Partial<Record<Service, Kind>>;

export type FrontName = keyof typeof KINDS;
export const FRONTS = Object.keys(KINDS) as FrontName[];

/** Starts a proxy in front of a gateway and waits until it listens. @throws {Error} with its output if it ends. */
export async function startFront(name: FrontName, gatewayUrl: string): Promise<Front> {
  const { program, args, file, config } = KINDS[name];
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  await writeFile(join(folder, file), config(folder, new URL(gatewayUrl).host));
  const child = spawn(program, args(folder), { stdio: ["ignore", "ignore", "pipe"] });
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const ended = once(child, "close");
  const address = join(folder, "front");
  while (child.exitCode === null && !(await isListening({ path: address })))
    await new Promise((resolve) => setTimeout(resolve, 10));
  if (child.exitCode !== null) throw new Error(`${name} does not start\n${printed}`);
  return {
    address,
    async stop() {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
