import { parseArgs } from "node:util";
import { splitCall } from "../examples/call.ts";
import { dryRoad, type DryAnswer } from "../examples/dry-road.ts";
import { loadPack } from "../mapping/load.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Route } from "../mapping/route.ts";
import { packFolder } from "../service/pack-folder.ts";
import { parseWords } from "../vocabulary/words.ts";
import type { Upstream, V4Answer, V4Call } from "../upstream/client.ts";
import { UsageError } from "./usage-error.ts";

const HELP = `alpha-gateway explain 'METHOD /path' [-H 'Name: value'] [-d '{...}']

Prints the v4 call or calls that the gateway would make, as curl, and what is lost on the way. Nothing is sent.
`;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A call as one would type it. The token is left to the reader's shell. */
function curl({ method, path, headers, body }: V4Call, pack: Pack): string {
  const filterHeader = pack.dialect.filter.header;
  const filter = headers[filterHeader.toLowerCase()];
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$V4"${quoted(path)}`,
    `-H "Authorization: ${pack.dialect.v4.scheme} $TOKEN"`,
    ...(filter === undefined ? [] : [`-H ${quoted(`${filterHeader}: ${filter}`)}`]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`]),
  ];
  return parts.join(" \\\n     ");
}

/** Answers as v4 might: an empty object or list to the call itself, nothing to what is read before it. */
function emptyV4(pack: Pack, asked: string, sent: V4Call[]): Upstream {
  const { items, page, pages, results } = pack.dialect.v4.envelope;
  const body = JSON.stringify({ [items]: [], [page]: 1, [pages]: 1, [results]: 0 });
  return {
    call(call): Promise<V4Answer> {
      sent.push(call);
      const before = call.method === "GET" && asked !== "GET";
      return Promise.resolve({ status: before ? 403 : 200, headers: {}, text: before ? "" : body, ms: 0 });
    },
    close: () => Promise.resolve(),
  };
}

function besides(route: Route | undefined): string[] {
  return (route?.with ?? []).map(({ name, endpoint }) => `For ${name}, besides: GET ${endpoint.template}`);
}

function explanation(
  call: string,
  { answer, notes }: DryAnswer,
  sent: readonly V4Call[],
  pack: Pack,
): string {
  const route = notes.target?.route;
  const head = [call, `route ${route?.name ?? "none"}`, ""];
  if (answer.status !== 200)
    return [...head, `Answered by the gateway: ${answer.status} ${answer.body}`, ""].join("\n");
  const calls = sent.map((each) => curl(each, pack));
  const copy = calls.length === 0 ? [`Answered from the gateway's copy of ${notes.equivalent}`] : calls;
  const losses = route?.losses.map((loss) => `Lost: ${loss}`) ?? [];
  return [
    ...head,
    copy.join("\n\n"),
    ...(besides(route).length ? ["", ...besides(route)] : []),
    ...(losses.length ? ["", ...losses] : []),
    "",
  ].join("\n");
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
    return JSON.parse(text);
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
  const pack = loadPack(packFolder(process.env["MAPPINGS_DIR"]), parseWords(process.env["WORDS"] ?? "vm=vm"));
  const { method, path } = splitCall(call, pack.dialect.alpha.prefix);
  const sent: V4Call[] = [];
  const road = dryRoad(pack, emptyV4(pack, method, sent));
  const result = await road.send({
    method,
    path,
    headers: headersOf(values.header ?? []),
    body: bodyOf(values.data),
  });
  process.stdout.write(explanation(call, result, sent, pack));
  return 0;
}
