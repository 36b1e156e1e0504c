/**
 * The v4 service that is measured against: answers from buffers made before, so that it costs as little as it can.
 * No two answers in a row are alike, so that nothing is measured that only remembers the last one.
 */
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { startSandbox } from "../src/sandbox/sandbox.ts";

interface Prepared {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

type Json = Record<string, unknown>;

/** Answers of one path, given in turn. */
const VARIANTS = 32;
const STATUSES = ["running", "offline", "booting", "provisioning"];

/** The sandbox's own words, so that what is measured has the shape of what is served; each is asked for once. */
const sandbox = await startSandbox();
const prepared = new Map<string, readonly Prepared[]>();

async function ask(target: string, headers: Record<string, string> = {}): Promise<Json> {
  const answer = await fetch(`${sandbox.url}${target}`, {
    headers: { authorization: `Bearer ${sandbox.tokens.full}`, ...headers },
  });
  if (!answer.ok) throw new Error(`the sandbox answers ${answer.status} to ${target}`);
  return (await answer.json()) as Json;
}

function answer(json: unknown): Prepared {
  const body = Buffer.from(JSON.stringify(json));
  const headers = {
    "content-type": "application/json",
    "content-length": body.length,
    "x-oauth-scopes": "*",
    "x-ratelimit-limit": "1600",
    "x-ratelimit-remaining": "1599",
    "x-ratelimit-reset": "4102444800",
  };
  return { headers, body };
}

/** The same object at another time: what it has of these members is another. */
function changed(object: Json, variant: number): Json {
  const others: Json = {
    label: `${String(object["label"])}-${variant}`,
    status: STATUSES[variant % STATUSES.length],
    updated: `2026-03-01T10:00:${String(variant).padStart(2, "0")}`,
    used: variant * 1_000_000_007,
  };
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, name in others ? others[name] : value]),
  );
}

/** Keeps the answers of a path; `change` makes the one of each turn. */
function keep(
  target: string,
  json: Json,
  change: (json: Json, variant: number) => Json,
): readonly Prepared[] {
  const answers = Array.from({ length: VARIANTS }, (_, variant) => answer(change(json, variant)));
  prepared.set(target.replace(/\?.*/, ""), answers);
  return answers;
}

const listTarget = "/v4/vm/instances?page=1&page_size=25";
const list = await ask(listTarget);
interface Instance extends Json {
  readonly id: number;
  readonly backups: { readonly enabled: boolean };
}

const rows = list["data"] as readonly Instance[];
const [{ body: listBody } = answer(null)] = keep(listTarget, list, (json, variant) => ({
  ...json,
  data: rows.map((row, at) => changed({ ...row, id: row.id + variant }, variant + at)),
}));

/** An image that no catalog has: retired, as on old accounts. */
const RETIRED = "vm/retired1";
/** Key of the list's second page, whose rows have such an image. */
const UNKNOWN_LIST = "/v4/vm/instances second page";
keep(UNKNOWN_LIST, list, (json, variant) => ({
  ...json,
  page: 2,
  data: rows.map((row, at) => ({
    ...changed({ ...row, id: row.id + variant }, variant + at),
    image: RETIRED,
  })),
}));
const first = rows.find(({ backups }) => backups.enabled);
if (!first) throw new Error("the sandbox has no instance with backups");
const one = `/v4/vm/instances/${first.id}`;
const { data: disks } = (await ask(`${one}/disks`)) as { data: readonly Instance[] };
const disk = `${one}/disks/${disks[0]?.id}`;
for (const target of [one, `${one}/transfer`, disk]) keep(target, await ask(target), changed);
const unchanged = (json: Json): Json => json;
keep(`${one}/backups`, await ask(`${one}/backups`), unchanged);
for (const name of ["regions", "vm/types", "vm/kernels"]) {
  const target = `/v4/${name}?page=1&page_size=100`;
  keep(target, await ask(target), unchanged);
}
const images = "/v4/images?page=1&page_size=100";
keep(images, await ask(images, { "x-filter": '{"is_public":true}' }), unchanged);
await sandbox.close();

let answered = 0;
const notFound = Buffer.from('{"errors":[{"reason":"Not found"}]}');

const server = createServer((request, response) => {
  const url = request.url ?? "";
  if (url === "/answered") {
    response.end(JSON.stringify({ answered, one, disk, listBytes: listBody.length }));
    return;
  }
  answered += 1;
  const question = url.indexOf("?");
  const path = question < 0 ? url : url.slice(0, question);
  const isSecondPage = path === "/v4/vm/instances" && /[?&]page=2(?:&|$)/.test(url);
  const found = prepared.get(isSecondPage ? UNKNOWN_LIST : path)?.[answered % VARIANTS];
  if (found) response.writeHead(200, found.headers).end(found.body);
  else response.writeHead(404, { "content-type": "application/json" }).end(notFound);
});

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`Listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
