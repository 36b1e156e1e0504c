import { randomBytes } from "node:crypto";
import { Pool } from "undici";
import { createApplication, REGISTERED } from "../../test/gateway/oauth/application.ts";
import { sendRequest, type SoakRequest } from "./send-request.ts";
import { leaveBefore, leaveWhileReading, leaveWhileSending, slowToAsk, slowToRead } from "./hard-clients.ts";
import type { SoakEnvironment } from "./environment.ts";

/** One kind of client operation, and how often it runs. */
export interface Operation {
  readonly name: string;
  /** Of a hundred. */
  readonly share: number;
  /** Whether its times count in p99. Clients that are slow on purpose don't count. */
  readonly timed: boolean;
  /** @param turn counts from 0. @throws {Error} if a response is not the expected one */
  once(turn: number): Promise<unknown>;
}

export interface Clients {
  readonly operations: readonly Operation[];
  close(): Promise<void>;
}

interface Named {
  readonly id: number;
}

const CONNECTIONS = 64;
/** Closes idle connections, so that the open descriptors of the gateway can be counted at the end. */
const IDLE_MS = 2000;
/** Clients whose tokens are renewed during the run. */
const LIVING = 4;
const FILE_BYTES = 512 * 1024;
const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), randomBytes(FILE_BYTES - 8)]);

const pick = <T>(list: readonly T[], turn: number): T => list[turn % list.length] as T;

/** Prepares what the clients share: an application with a picture, tokens that are refreshed, and ids of instances. */
export async function openClients({ gateway, tokens }: SoakEnvironment): Promise<Clients> {
  const pool = new Pool(gateway.url, {
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });
  const alpha = `token ${tokens.full}`;
  const send = (asked: SoakRequest) => sendRequest(pool, { as: alpha, ...asked });

  const { vms } = (await send({ path: "/v4/vm/instances" })).json as unknown as { vms: readonly Named[] };
  const instance = (turn: number): string => `/v4/vm/instances/${pick(vms, turn).id}`;
  const registered = await send({
    method: "POST",
    path: "/v4/account/clients",
    body: { label: "soak", redirect_uri: REGISTERED },
  });
  const { id, secret } = registered.json as { id: string; secret: string };
  const app = createApplication(gateway.url, { id, secret });
  const picture = `/v4/account/clients/${id}/thumbnail`;

  async function signIn(): Promise<string> {
    const { token } = await app.token("vms:view");
    if (!token) throw new Error("a sign-in gave no token");
    await send({ path: instance(0), as: `token ${token}` });
    return token;
  }

  async function signInAndOut(turn: number): Promise<void> {
    const token = await signIn();
    await send({ path: instance(turn), as: `token ${token}` });
    const { status } = await app.expire(token);
    if (status !== 200) throw new Error(`expiring a token got ${status}`);
    await send({ path: instance(turn), as: `token ${token}`, expected: [401] });
  }

  async function makeAndDelete(turn: number): Promise<void> {
    const dnszone = `soak-${turn}-${randomBytes(4).toString("hex")}.net`;
    const zone = { dnszone, type: "master", soa_email: `dns@${dnszone}` };
    const created = (await send({ method: "POST", path: "/v4/dns/zones", body: zone }))
      .json as unknown as Named;
    await send({ path: `/v4/dns/zones/${created.id}` });
    await send({ method: "DELETE", path: `/v4/dns/zones/${created.id}` });
    await send({ path: `/v4/dns/zones/${created.id}`, expected: [404] });
  }

  async function sendFile(): Promise<void> {
    const headers = { authorization: alpha, "content-type": "image/png" };
    const { statusCode, body } = await pool.request({ method: "PUT", path: picture, headers, body: PNG });
    await body.dump();
    if (statusCode !== 200) throw new Error(`a file got ${statusCode}`);
  }

  async function readFile(): Promise<void> {
    const { body } = await pool.request({ method: "GET", path: picture, headers: { authorization: alpha } });
    if (!PNG.equals(Buffer.from(await body.arrayBuffer()))) throw new Error("a file came back as another");
  }

  /** Three in a row, of which one is over the limit wherever its window ends. */
  async function createTooOften(): Promise<void> {
    const create = {
      method: "POST",
      path: "/v4/vm/instances",
      as: `token ${tokens.other}`,
      body: {},
    } as const;
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await send({ ...create, expected: [400, 420] })).status);
    if (!statuses.includes(420)) throw new Error(`creates over their limit got ${statuses.join(", ")}`);
  }

  function leave(turn: number): Promise<void> {
    const leaves = [
      () => leaveBefore(gateway.url, instance(turn), alpha),
      () => leaveWhileReading(gateway.url, picture, alpha),
      () => leaveWhileSending(gateway.url, picture, alpha, PNG),
    ];
    return pick(leaves, turn)();
  }

  const takeTime = (turn: number): Promise<void> =>
    turn % 2 === 0
      ? slowToAsk(gateway.url, instance(turn), alpha)
      : slowToRead(pool, picture, alpha, FILE_BYTES);

  await sendFile();
  const living = await Promise.all(Array.from({ length: LIVING }, signIn));

  const timed = (name: string, share: number, of: (turn: number) => SoakRequest): Operation => ({
    name,
    share,
    timed: true,
    once: (turn) => send(of(turn)),
  });
  const other = (name: string, share: number, once: Operation["once"]): Operation => ({
    name,
    share,
    timed: false,
    once,
  });

  const list = "/v4/vm/instances";
  const native = `Bearer ${tokens.full}`;
  const filter = { datacenter: "newark", "+order-by": "label" };
  const operations = [
    timed("a list", 13, () => ({ path: list })),
    timed("a page of a list", 8, (turn) => ({ path: `${list}?page=${1 + (turn % 3)}` })),
    timed("a filtered list", 12, () => ({ path: list, filter })),
    timed("an object", 16, (turn) => ({ path: instance(turn) })),
    timed("the disks of an object", 8, (turn) => ({ path: `${instance(turn)}/disks` })),
    timed("a list in v4's own dialect", 10, () => ({ path: list, as: native })),
    timed("an object in v4's own dialect", 4, (turn) => ({ path: instance(turn), as: native })),
    timed("an edit", 6, (turn) => ({ method: "PUT", path: instance(turn), body: { group: `soak-${turn}` } })),
    timed("an object that does not exist", 3, () => ({ path: `${list}/999999999`, expected: [404] })),
    timed("a route that does not exist", 1, () => ({ path: "/v4/nothing", expected: [404] })),
    timed("no token", 2, () => ({ path: list, as: "token", expected: [401] })),
    timed("an invented token", 1, () => ({
      path: list,
      as: `token ${randomBytes(32).toString("hex")}`,
      expected: [401],
    })),
    timed("a body that is not JSON", 2, () => ({
      method: "POST",
      path: "/v4/dns/zones",
      body: "{",
      expected: [400],
    })),
    timed("a token that is refreshed", 4, (turn) => ({ path: list, as: `token ${pick(living, turn)}` })),
    other("creates over their limit", 3, createTooOften),
    other("a zone: created, read and deleted", 2, makeAndDelete),
    other("a sign-in, whose token is used and revoked", 1, signInAndOut),
    other("a file sent", 1, sendFile),
    other("a file read", 1, readFile),
    other("a client that disconnects", 1, leave),
    other("a slow client", 1, takeTime),
  ];
  return { operations, close: () => pool.close() };
}
