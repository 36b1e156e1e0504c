/** The v4 service that is measured against: answers from buffers made before, so that it costs as little as it can. */
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { startSandbox } from "../src/sandbox/sandbox.ts";

interface Prepared {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** The sandbox's own words, so that what is measured has the shape of what is served; each is asked for once. */
const sandbox = await startSandbox();
const prepared = new Map<string, Prepared>();

async function prepare(target: string, headers: Record<string, string> = {}): Promise<Prepared> {
  const answer = await fetch(`${sandbox.url}${target}`, {
    headers: { authorization: `Bearer ${sandbox.tokens.full}`, ...headers },
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const made: Prepared = {
    status: answer.status,
    headers: {
      "content-type": "application/json",
      "content-length": body.length,
      "x-oauth-scopes": "*",
      "x-ratelimit-limit": "1600",
      "x-ratelimit-remaining": "1599",
      "x-ratelimit-reset": "4102444800",
    },
    body,
  };
  prepared.set(target.replace(/\?.*/, ""), made);
  return made;
}

const list = await prepare("/v4/vm/instances?page=1&page_size=25");
interface Instance {
  readonly id: number;
  readonly backups: { readonly enabled: boolean };
}

const { data } = JSON.parse(list.body.toString()) as { data: readonly Instance[] };
const first = data.find(({ backups }) => backups.enabled);
if (!first) throw new Error("the sandbox has no instance with backups");
const one = `/v4/vm/instances/${first.id}`;
for (const target of [one, `${one}/transfer`, `${one}/backups`]) await prepare(target);
for (const name of ["regions", "vm/types", "vm/types-legacy", "vm/kernels"])
  await prepare(`/v4/${name}?page=1&page_size=100`);
await prepare("/v4/images?page=1&page_size=100", { "x-filter": '{"is_public":true}' });
await sandbox.close();

let answered = 0;
const notFound = Buffer.from('{"errors":[{"reason":"Not found"}]}');

const server = createServer((request, response) => {
  const url = request.url ?? "";
  if (url === "/answered") {
    response.end(JSON.stringify({ answered, one, listBytes: list.body.length }));
    return;
  }
  answered += 1;
  const question = url.indexOf("?");
  const found = prepared.get(question < 0 ? url : url.slice(0, question));
  if (found) response.writeHead(found.status, found.headers).end(found.body);
  else response.writeHead(404, { "content-type": "application/json" }).end(notFound);
});

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`Listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
