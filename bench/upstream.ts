/**
 * The v4 service of the benchmark. It responds from prepared buffers, so that it costs as little as possible.
 * No two responses in a row are alike, so that no cache of the last one can help.
 */
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { startSandbox } from "../src/sandbox/create-sandbox.ts";

interface Prepared {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

type Json = Record<string, unknown>;

/** Responses of one path, used one after the other: the argument, or 32. With one the service says the same each time. */
const VARIANTS = Number(process.argv[2] ?? 32);
const STATUSES = ["running", "offline", "booting", "provisioning"];

/** The bodies come from the sandbox, so that they are realistic; each is requested once. */
const sandbox = await startSandbox();
const prepared = new Map<string, readonly Prepared[]>();

async function fetchFromSandbox(target: string, headers: Record<string, string> = {}): Promise<Json> {
  const response = await fetch(`${sandbox.url}${target}`, {
    headers: { authorization: `Bearer ${sandbox.tokens.full}`, ...headers },
  });
  if (!response.ok) throw new Error(`the sandbox responds ${response.status} to ${target}`);
  return (await response.json()) as Json;
}

function prepare(json: unknown): Prepared {
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

/** The same object with other values in these members. */
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

/** Prepares the responses of a path; `change` returns each variant. */
function keep(
  target: string,
  json: Json,
  change: (json: Json, variant: number) => Json,
): readonly Prepared[] {
  const responses = Array.from({ length: VARIANTS }, (_, variant) => prepare(change(json, variant)));
  prepared.set(target.replace(/\?.*/, ""), responses);
  return responses;
}

const listTarget = "/v4/vm/instances?page=1&page_size=25";
const list = await fetchFromSandbox(listTarget);
interface Instance extends Json {
  readonly id: number;
  readonly backups: { readonly enabled: boolean };
}

const rows = list["data"] as readonly Instance[];
const [{ body: listBody } = prepare(null)] = keep(listTarget, list, (json, variant) => ({
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
const { data: disks } = (await fetchFromSandbox(`${one}/disks`)) as { data: readonly Instance[] };
const disk = `${one}/disks/${disks[0]?.id}`;
for (const target of [one, `${one}/transfer`, disk]) keep(target, await fetchFromSandbox(target), changed);
const unchanged = (json: Json): Json => json;
keep(`${one}/backups`, await fetchFromSandbox(`${one}/backups`), unchanged);
for (const name of ["regions", "vm/types", "vm/kernels"]) {
  const target = `/v4/${name}?page=1&page_size=100`;
  keep(target, await fetchFromSandbox(target), unchanged);
}
const images = "/v4/images?page=1&page_size=100";
keep(images, await fetchFromSandbox(images, { "x-filter": '{"is_public":true}' }), unchanged);
await sandbox.close();

let callCount = 0;
const notFound = Buffer.from('{"errors":[{"reason":"Not found"}]}');

const server = createServer((request, response) => {
  const url = request.url ?? "";
  if (url === "/state") {
    response.end(JSON.stringify({ callCount, one, disk, listBytes: listBody.length }));
    return;
  }
  callCount += 1;
  const question = url.indexOf("?");
  const path = question < 0 ? url : url.slice(0, question);
  const isSecondPage = path === "/v4/vm/instances" && /[?&]page=2(?:&|$)/.test(url);
  const found = prepared.get(isSecondPage ? UNKNOWN_LIST : path)?.[callCount % VARIANTS];
  if (found) response.writeHead(200, found.headers).end(found.body);
  else response.writeHead(404, { "content-type": "application/json" }).end(notFound);
});

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`Listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
