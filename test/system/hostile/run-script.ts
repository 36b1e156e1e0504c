import { envelope, json, type ReceivedRequest, type Responder, type FakeV4 } from "../../support/fake-v4.ts";
import type { ListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";
import { bytesOf, SCHEMES, type Dialect, type Outcome, type Script } from "./script.ts";

/** The result of a script. */
export interface ScriptResult extends Outcome {
  /** Labels in v4's response bodies. Each is the token whose response it is. */
  readonly labels: readonly string[];
  /** Tokens of v4 requests, except the first, whose response the client did not get. The next client would get it. */
  readonly astray: readonly string[];
  /** Ambiguous parts of the requests to v4. */
  readonly ambiguous: readonly string[];
  /** Response bodies that are not JSON: they come from Node or Express, not from the gateway. */
  readonly foreign: readonly string[];
  /** Whether a request that is sent afterwards on the connection, where it is open, gets its own response. */
  readonly inStep: boolean;
  /** Whether other clients, on connections of their own, get their own responses afterwards. */
  readonly othersSafe: boolean;
}

/** A script without an expectation is over after this time without bytes. */
const QUIET_MS = 150;
/** How long to wait for an expected response. */
const LATE_MS = 5000;

export const requestText = (dialect: Dialect, token: string): string =>
  `GET /v4/vm/instances HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${SCHEMES[dialect]} ${token}\r\n\r\n`;

const labels = (text: string): string[] =>
  [...text.matchAll(/"label":"([^"]*)"/g)].map(([, label = ""]) => label);

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the connection is closed or quiet. */
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

/** Waits for the expected responses, or for quiet if there is no expectation. */
async function waitForExpected(
  client: RawClient,
  gateway: ListeningGatewayWithFakeV4,
  expected: Outcome | undefined,
): Promise<void> {
  if (expected) {
    await client.waitForResponses(expected.statuses.length);
    if (expected.closes) await client.waitForEnd();
    return;
  }
  const begun = performance.now();
  const misses = (): boolean => client.text() === "" || strays(client, gateway).length > 0;
  do await quiet(client);
  while (!client.isEnded() && misses() && performance.now() - begun < LATE_MS);
}

async function isInStep(client: RawClient, dialect: Dialect): Promise<boolean> {
  if (client.isEnded()) return true;
  const before = client.text().length;
  const responsesBefore = (await client.waitForResponses(0)).length;
  client.send(requestText(dialect, "after"));
  await Promise.race([client.waitForResponses(responsesBefore + 1), wait(LATE_MS)]);
  return labels(client.text().slice(before)).join() === "after";
}

async function getsItsOwn(address: string, dialect: Dialect, token: string): Promise<boolean> {
  const client = await openRawClient(address);
  client.send(requestText(dialect, token));
  const [response] = await client.waitForResponses(1);
  client.close();
  return response?.status === 200 && labels(response.body).join() === token;
}

/** As many as a proxy in front keeps connections to the gateway, and one more. */
const OTHERS = ["other-1", "other-2", "other-3"];

const tokenOf = ({ headers }: ReceivedRequest): string => (headers.authorization ?? "").replace(/^\S+ /, "");

const tokensSeen = (v4: FakeV4): string[] =>
  [...new Set(v4.calls.map(tokenOf))].filter((token) => token !== "after" && !OTHERS.includes(token));

/** A head with two of one of these is ambiguous. */
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

/** Responds with the token of the request as the label. */
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
  /** The address that the client connects to: the gateway, or a proxy in front of it. */
  readonly address: string;
}

/** Runs a script and waits for the `expected` responses; without `expected`, until the connection is quiet. */
export async function runScript(
  script: Script,
  dialect: Dialect,
  { gateway, address }: Target,
  expected?: Outcome,
): Promise<ScriptResult> {
  gateway.v4.respondWith(sayWhoAsked);
  const client = await openRawClient(address);
  try {
    for (const part of bytesOf(script, dialect)) {
      if (typeof part === "string") client.send(part);
      else await (expected ? client.waitForResponses(part.responses) : quiet(client));
    }
    await waitForExpected(client, gateway, expected);
    const responses = await client.waitForResponses(0);
    const closes = client.isEnded();
    const ambiguous = gateway.v4.calls.flatMap(ambiguities);
    const reported = responses.flatMap(({ body }) => labels(body));
    const astray = expected ? [] : strays(client, gateway);
    const v4 = tokensSeen(gateway.v4);
    const inStep = expected ? await isInStep(client, dialect) : true;
    const safe = await Promise.all(OTHERS.map((token) => getsItsOwn(address, dialect, token)));
    const statuses = responses.map(({ status }) => status);
    const othersSafe = !safe.includes(false);
    const foreign = responses.map(({ body }) => body).filter((body) => body !== "" && !isJsonText(body));
    return { statuses, closes, labels: reported, foreign, ambiguous, astray, v4, inStep, othersSafe };
  } finally {
    client.close();
  }
}
