/** Traffic of five invented clients, each with its own habits, as an API has them shortly before its end. */

import { request, type Target } from "./request.ts";

interface Call {
  readonly call: string;
  readonly body?: unknown;
  readonly filter?: unknown;
}

interface Habit {
  readonly agent: string;
  /** Name of its token in the sandbox, or a token that v4 does not know. */
  readonly token: string;
  /** What it does in alpha, and in v4's own dialect. */
  readonly alpha: readonly Call[];
  readonly native: readonly Call[];
  /** How often it does all of it. */
  readonly rounds: number;
}

/** Typical requests of such programs; some of them are wrong, as in production. */
export const FIVE_CLIENTS: readonly Habit[] = [
  {
    agent: "fleet-dashboard/3.2 (python-requests/2.19)",
    token: "readOnly",
    alpha: [
      { call: "GET /vm/instances?page=1" },
      { call: "GET /vm/instances", filter: { datacenter: "newark", "+order-by": "label" } },
      { call: "GET /vm/instances/5201" },
      { call: "GET /vm/kernels" },
    ],
    native: [],
    rounds: 6,
  },
  {
    agent: "provision.rb/0.9",
    token: "vms",
    alpha: [
      { call: "GET /datacenters" },
      { call: "GET /vm/distributions" },
      { call: "POST /vm/instances", body: { label: "w", datacenter: "nowhere" } },
      {
        call: "POST /vm/instances",
        body: {
          label: "from-a-script",
          datacenter: "newark",
          type: "g6-standard-1",
          distribution: "vm/debian8",
          root_pass: "aVery!long-secret-1",
        },
      },
    ],
    native: [],
    rounds: 2,
  },
  {
    agent: "control-panel/1.4",
    token: "full",
    alpha: [
      { call: "GET /account/profile" },
      { call: "GET /dns/zones" },
      { call: "PUT /vm/instances/5202", body: { group: "panel", colour: "blue" } },
      { call: "GET /nothing/here" },
    ],
    native: [{ call: "GET /vm/instances" }],
    rounds: 3,
  },
  {
    agent: "nightly-backup.sh curl/7.38.0",
    token: "a-token-that-was-revoked-long-ago",
    alpha: [{ call: "GET /vm/instances/5201/backups" }],
    native: [],
    rounds: 4,
  },
  {
    agent: "terraform-provider/2.0",
    token: "app",
    alpha: [],
    native: [{ call: "GET /vm/instances?page_size=100" }, { call: "GET /regions" }],
    rounds: 4,
  },
];

async function send(target: Target, authorization: string, agent: string, { call, body, filter }: Call) {
  const [method = "GET", path = "/"] = call.split(" ", 2);
  await request(target, `${method} /v4${path}`, {
    headers: { authorization, "user-agent": agent },
    body,
    filter,
  });
}

/**
 * Sends all of it to a gateway, one call after the other.
 *
 * @param tokens of the sandbox, by their names
 * @returns how many calls were made
 */
export async function sendTraffic(target: Target, tokens: Readonly<Record<string, string>>): Promise<number> {
  let sent = 0;
  for (const { agent, token, alpha, native, rounds } of FIVE_CLIENTS) {
    const tokenValue = tokens[token] ?? token;
    for (let round = 0; round < rounds; round += 1) {
      for (const call of alpha) await send(target, `token ${tokenValue}`, agent, call);
      for (const call of native) await send(target, `Bearer ${tokenValue}`, agent, call);
      sent += alpha.length + native.length;
    }
  }
  return sent;
}
