import { envelope, json, type ReceivedRequest, type Responder, type FakeV4 } from "../../support/fake-v4.ts";
import type { ListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";
import { bytesOf, SCHEMES, type Scheme, type Outcome, type Script } from "./script.ts";

/** What came of a script. */
export interface ScriptResult extends Outcome {
  /** Labels in the bodies of the responses that are v4's: whose response each one is. */
  readonly told: readonly string[];
  /** Tokens that v4 saw, but for the first, and whose response the client didn't get: the next one would have. */
  readonly astray: readonly string[];
  /** What v4 was sent that is HTTP, and yet could be read in two ways. */
  readonly ambiguous: readonly string[];
  /** Bodies of responses that are no JSON: of Node or Express, and not the gateway's own. */
  readonly foreign: readonly string[];
  /** Whether a request that is sent afterwards on the connection, where it is open, gets its own response. */
  readonly inStep: boolean;
  /** Whether other clients, on connections of their own, get their own responses afterwards. */
  readonly othersSafe: boolean;
}

/** For how long nothing must come for a script to be over, where nobody knows what to wait for. */
const QUIET_MS = 150;
/** For how long a response is waited for that would show that all is well. */
const LATE_MS = 5000;

export const requestText = (lane: Scheme, token: string): string =>
  `GET /v4/vm/instances HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${SCHEMES[lane]} ${token}\r\n\r\n`;

const labels = (text: string): string[] =>
  [...text.matchAll(/"label":"([^"]*)"/g)].map(([, label = ""]) => label);

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Until the connection is over, or silent for a while. */
async function quiet(client: RawClient): Promise<void> {
  for (;;) {
    const before = client.text().length;
    await Promise.race([wait(QUIET_MS), client.waitForEnd()]);
    if (client.isEnded() || client.text().length === before) return;
  }
}

const strays = (client: RawClient, { v4 }: ListeningGatewayWithFakeV4): string[] => {
  const reported = labels(client.text());
  return tokensSeen(v4).filter((token) => token !== "first" && !reported.includes(token));
};

/** Waits for what must come, so that only what must not come takes time. */
async function hear(
  client: RawClient,
  gateway: ListeningGatewayWithFakeV4,
  expected: Outcome | undefined,
): Promise<void> {
  if (expected) {
    await client.waitForResponses(expected.answers.length);
    if (expected.closes) await client.waitForEnd();
    return;
  }
  const begun = performance.now();
  const misses = (): boolean => client.text() === "" || strays(client, gateway).length > 0;
  do await quiet(client);
  while (!client.isEnded() && misses() && performance.now() - begun < LATE_MS);
}

async function isInStep(client: RawClient, lane: Scheme): Promise<boolean> {
  if (client.isEnded()) return true;
  const before = client.text().length;
  const responsesBefore = (await client.waitForResponses(0)).length;
  client.send(requestText(lane, "after"));
  await Promise.race([client.waitForResponses(responsesBefore + 1), wait(LATE_MS)]);
  return labels(client.text().slice(before)).join() === "after";
}

async function getsItsOwn(address: string, lane: Scheme, token: string): Promise<boolean> {
  const client = await openRawClient(address);
  client.send(requestText(lane, token));
  const [response] = await client.waitForResponses(1);
  client.close();
  return response?.status === 200 && labels(response.body).join() === token;
}

/** As many as a proxy in front keeps connections to the gateway, and one more. */
const OTHERS = ["other-1", "other-2", "other-3"];

const tokenOf = ({ headers }: ReceivedRequest): string => (headers.authorization ?? "").replace(/^\S+ /, "");

const tokensSeen = (v4: FakeV4): string[] =>
  [...new Set(v4.calls.map(tokenOf))].filter((token) => token !== "after" && !OTHERS.includes(token));

/** A head that every reader understands alike has one of these at most. */
const ONCE = ["host", "content-length", "transfer-encoding", "authorization", "x-filter"];

function ambiguities({ rawHeaders, headers }: ReceivedRequest): string[] {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = ONCE.filter((name) => names.filter((other) => other === name).length > 1);
  const both = headers["content-length"] !== undefined && headers["transfer-encoding"] !== undefined;
  const { "transfer-encoding": coding = "chunked" } = headers;
  return [
    ...twice.map((name) => `two of ${name}`),
    ...(both ? ["both lengths"] : []),
    ...(coding === "chunked" ? [] : [`the coding ${coding}`]),
  ];
}

/** Says whose token it was. */
const sayWhoAsked: Responder = (call, response) =>
  json(200, envelope([{ id: 7, label: tokenOf(call) }]))(call, response);

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export interface Target {
  readonly gateway: ListeningGatewayWithFakeV4;
  /** Where the client knocks: the gateway's own address, or a proxy's before it. */
  readonly address: string;
}

/** Runs one. `expected` is what to wait for; without it, whatever comes until all is quiet. */
export async function runScript(
  script: Script,
  lane: Scheme,
  { gateway, address }: Target,
  expected?: Outcome,
): Promise<ScriptResult> {
  gateway.v4.respondWith(sayWhoAsked);
  const client = await openRawClient(address);
  try {
    for (const part of bytesOf(script, lane)) {
      if (typeof part === "string") client.send(part);
      else await (expected ? client.waitForResponses(part.answers) : quiet(client));
    }
    await hear(client, gateway, expected);
    const responses = await client.waitForResponses(0);
    const closes = client.isEnded();
    const ambiguous = gateway.v4.calls.flatMap(ambiguities);
    const reported = responses.flatMap(({ body }) => labels(body));
    const astray = expected ? [] : strays(client, gateway);
    const v4 = tokensSeen(gateway.v4);
    const inStep = expected ? await isInStep(client, lane) : true;
    const safe = await Promise.all(OTHERS.map((token) => getsItsOwn(address, lane, token)));
    const statuses = responses.map(({ status }) => status);
    const othersSafe = !safe.includes(false);
    const foreign = responses.map(({ body }) => body).filter((body) => body !== "" && !isJsonText(body));
    return { answers: statuses, closes, told: reported, foreign, ambiguous, astray, v4, inStep, othersSafe };
  } finally {
    client.close();
  }
}
