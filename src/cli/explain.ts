import { parseArgs } from "node:util";
import { parseJson } from "../dialect/json/parse.ts";
import { splitCall, type WrittenCall } from "../tools/examples/split-call.ts";
import { createDryRun } from "../tools/dry-run.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import type { Pack } from "../mapping/pack.ts";
import { splitPath } from "../mapping/router.ts";
import { packFolder } from "../app/pack-folder.ts";
import { parseProductWords } from "../config/product-words.ts";
import type { Upstream, HttpResponse, HttpRequest } from "../upstream/client.ts";
import { formatExplanation, isRefused } from "./format-explanation.ts";
import { UsageError } from "./usage-error.ts";

const HELP = `alpha-gateway explain 'METHOD /path' [-H 'Name: value'] [-d '{...}']

Prints the v4 call or calls that the gateway would make, in their order, as curl, and what is lost on the way.
Nothing is sent. Paste them with V4 set to v4's address (https://api.example.com) and TOKEN to a token of it.
Ends with 0, or with 1 where the gateway refuses the call: then it prints the refusal.
`;

/** Reads before the call that decide about it and give it nothing: where v4 won't tell, the call is made all the same. */
function deciding(pack: Pack, { method, path }: WrittenCall): (v4: HttpRequest) => boolean {
  const segments = splitPath(path.split("?")[0] ?? "") ?? [];
  const routes = pack.match(method, segments.slice(pack.prefix.length))?.routes ?? [];
  const reads = routes.flatMap(({ prerequisites, wait }) => [
    ...prerequisites
      .filter(({ notFoundField }) => notFoundField !== undefined)
      .map(({ endpoint }) => endpoint),
    ...(wait ? [wait.endpoint] : []),
  ]);
  return (call) => call.method === "GET" && reads.some(({ matches }) => matches(call.path));
}

/** Answers as v4 might: an empty object or list to the call itself, and nothing to what decides about it. */
function emptyV4(pack: Pack, asked: WrittenCall, sent: HttpRequest[]): Upstream {
  const { items, page, pages, results } = pack.dialect.v4.envelope;
  const body = JSON.stringify({ [items]: [], [page]: 1, [pages]: 1, [results]: 0 });
  const isSilent = deciding(pack, asked);
  return {
    call(call): Promise<HttpResponse> {
      sent.push(call);
      const silent = isSilent(call);
      const headers = { "content-type": call.headers["accept"] };
      return Promise.resolve({ status: silent ? 403 : 200, headers, text: silent ? "" : body, ms: 0 });
    },
    close: () => Promise.resolve(),
  };
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      if (colon < 1) throw new UsageError(`-H "${line}" is not "Name: value"`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

function bodyOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    throw new UsageError("-d is not JSON");
  }
}

/** `alpha-gateway explain`: the exit code. */
export async function explain(args: readonly string[]): Promise<number> {
  const options = {
    header: { type: "string", short: "H", multiple: true },
    data: { type: "string", short: "d" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [call] = positionals;
  if (values.help || call === undefined) {
    process.stdout.write(HELP);
    return values.help ? 0 : 1;
  }
  if (positionals.length > 1) throw new UsageError(`one call at a time, in quotes: 'GET /path'`);
  const pack = loadPack(
    packFolder(process.env["MAPPINGS_DIR"]),
    parseProductWords(process.env["WORDS"] ?? "vm=vm"),
  );
  const asked = splitCall(call, pack.dialect.alpha.prefix);
  const sent: HttpRequest[] = [];
  const road = createDryRun(pack, emptyV4(pack, asked, sent));
  const result = await road.send({
    ...asked,
    headers: headersOf(values.header ?? []),
    body: bodyOf(values.data),
  });
  const explained = { call, sent, result, pack };
  process.stdout.write(formatExplanation(explained));
  return isRefused(explained) ? 1 : 0;
}
