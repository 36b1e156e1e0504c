import type { DryRunResponse } from "../tools/dry-run.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Route } from "../mapping/compile/route.ts";
import type { Parameters } from "../mapping/router.ts";
import type { HttpRequest } from "../upstream/client.ts";
import { curl } from "../tools/explain/curl.ts";
import { shellComment } from "../tools/explain/shell.ts";

/** A call that goes to v4, and why. */
interface Step {
  readonly why: string;
  readonly call: HttpRequest;
}

/** What an alpha call becomes, as far as it is known without asking v4. */
export interface ExplainedCall {
  /** As it was typed. */
  readonly call: string;
  readonly sent: readonly HttpRequest[];
  readonly result: DryRunResponse;
  readonly pack: Pack;
}

/** A call as one would type it. Address and token are left to the reader's shell. */
function typed({ method, path, headers, body }: HttpRequest, { dialect }: Pack): string {
  const filterHeader = dialect.filter.header;
  const filter = { [filterHeader]: headers[filterHeader.toLowerCase()] };
  return curl({ base: "$V4", method, path, scheme: dialect.v4.scheme, headers: filter, body });
}

const get = (path: string): HttpRequest => ({ method: "GET", path, headers: {} });
const when = (condition: string | undefined): string =>
  condition === undefined ? "" : `, where ${condition}`;

/** Why a read is made before the call. */
function reasonBefore(path: string, { prerequisites, wait }: Route, parameters: Parameters): string {
  if (wait?.endpoint.path(parameters) === path)
    return `first, every ${wait.intervalMs} ms and ${wait.timeoutMs} ms at most, until ${wait.condition}`;
  const step = prerequisites.find(({ endpoint }) => endpoint.matches(path));
  if (!step) return "first, since what is shown now may be sent back: its answer decides what is refused";
  return step.notFoundField === undefined
    ? `first, for what is made from it ($first.${step.name})`
    : `first, for the rules about "${step.notFoundField}"`;
}

/** Of a list that is read whole. */
const firstPage = ({ page, v4: { page_size: size } }: Pack["dialect"]): string =>
  `?${page}=1&${size.parameter}=${size.largest}`;

/** Every step in its order: what is read before, the call, what is read after it, and what is read besides. */
function stepsOf(
  { sent, result: { context: notes }, pack: { dialect } }: ExplainedCall,
  route: Route,
  parameters: Parameters,
): Step[] {
  const at = sent.findIndex(({ method, path }) => `${method} ${path}` === notes.upstreamEquivalent);
  const before = sent.slice(0, Math.max(0, at));
  const [call] = sent.slice(Math.max(0, at));
  const after = route.readAfterWrite?.endpoint.path(parameters);
  return [
    ...before.map((read) => ({ why: reasonBefore(read.path, route, parameters), call: read })),
    ...(call ? [{ why: before.length > 0 ? "the call itself" : "", call }] : []),
    ...(after === undefined ? [] : [{ why: "then, and this answers", call: get(after) }]),
    ...route.related.map(({ name, endpoint, condition, allPages, eachValue }) => ({
      why: `besides, for "${name}"${eachValue ? ", once for each" : ""}${allPages ? ", to its last page" : ""}${when(condition)}`,
      call: get(endpoint.path({ ...parameters, each: "EACH" }) + (allPages ? firstPage(dialect) : "")),
    })),
  ];
}

function refusal({ result: { response: answer }, pack }: ExplainedCall, route: Route | undefined): string[] {
  const { list, reason, field } = pack.dialect.errors;
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const faults = (JSON.parse(answer.body) as Record<string, Record<string, unknown>[]>)[list] ?? [];
  const told = faults.map(
    (fault) => `  ${[fault[field], fault[reason]].map(text).filter(Boolean).join(": ")}`,
  );
  const where = route ? "" : ", since alpha has no such route";
  return [`refused by the gateway${where}: ${answer.status}`, ...told].map(shellComment);
}

/** Whether the gateway won't make the call. Its copies are empty here, so that nothing of them is refused. */
export function isRefused({ result: { response: answer, context: notes } }: ExplainedCall): boolean {
  const { source } = notes.match?.route ?? {};
  const isCopied = source !== undefined && "catalog" in source;
  return answer.status !== 200 && !(isCopied && answer.status !== 400);
}

/** What a catalog is read from, in the background. */
function copied({ source }: Route, pack: Pack): string[] {
  if (!("catalog" in source)) return [];
  return source.catalog.calls.map(({ path }) =>
    [
      shellComment("not called now: answered from the gateway's copy of"),
      typed(get(pack.dialect.v4.prefix + path), pack),
    ].join("\n"),
  );
}

/** What an alpha call becomes, for people and their shells: every line that is no command is a remark. */
export function formatExplanation(explained: ExplainedCall): string {
  const { call, result, pack } = explained;
  const { route, parameters } = result.context.match ?? {};
  const head = [shellComment(call), ...(route ? [shellComment(`route ${route.name}`)] : [])];
  if (isRefused(explained) || !route || !parameters)
    return [...head, ...refusal(explained, route), ""].join("\n");
  const steps = stepsOf(explained, route, parameters).map((step) =>
    [...(step.why ? [shellComment(step.why)] : []), typed(step.call, pack)].join("\n"),
  );
  const again =
    route.retryWithout &&
    shellComment(`once more without "${route.retryWithout}" where v4 refuses just that`);
  const losses = route.losses.map((loss) => shellComment(`lost: ${loss}`));
  const parts = [head.join("\n"), ...copied(route, pack), ...steps, again, losses.join("\n")];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}
