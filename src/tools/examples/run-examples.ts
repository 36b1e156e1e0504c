import { isDeepStrictEqual } from "node:util";
import { splitCall, type WrittenCall } from "./split-call.ts";
import { createDryRun, type DryRun } from "../dry-run.ts";
import type { Example, ExampleDefinition } from "./example.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Diagnostic } from "../../mapping/load/diagnostic.ts";
import type { Upstream, HttpResponse, HttpRequest } from "../../upstream/client.ts";

const answered = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: {},
  text: body === undefined ? "" : JSON.stringify(body),
  ms: 0,
});

/** Lists of catalogs, all on one page, as v4 wraps them. */
function catalogAnswer(
  lists: Readonly<Record<string, readonly unknown[]>>,
  path: string,
  { dialect }: Pack,
): HttpResponse {
  const call = `GET ${path.split("?")[0]?.slice(dialect.v4.prefix.length)}`;
  const items = lists[call];
  const { items: name, page, pages, results } = dialect.v4.envelope;
  return items
    ? answered(200, { [name]: items, [page]: 1, [pages]: 1, [results]: items.length })
    : answered(404, undefined);
}

interface Pretended extends Upstream {
  /** Takes the calls of the next example. */
  expect(calls: ExampleDefinition["v4"], mismatch: (message: string) => void): void;
  /** Calls that were expected and not made. */
  left(): number;
}

const show = (value: unknown): string => JSON.stringify(value) ?? "nothing";

function differences(
  sent: HttpRequest,
  expected: WrittenCall & ExampleDefinition["v4"][number],
  filterHeader: string,
): string[] {
  const filter = sent.headers[filterHeader.toLowerCase()];
  const made = {
    call: `${sent.method} ${sent.path}`,
    filter: filter === undefined ? undefined : (JSON.parse(filter) as unknown),
    body: sent.body === undefined ? undefined : (JSON.parse(sent.body) as unknown),
  };
  const wanted = {
    call: `${expected.method} ${expected.path}`,
    filter: expected.filter,
    body: expected.body,
  };
  return (["call", "filter", "body"] as const).flatMap((part) =>
    isDeepStrictEqual(made[part], wanted[part])
      ? []
      : [`v4 ${part} is ${show(made[part])}, expected ${show(wanted[part])}`],
  );
}

/** A v4 that answers what examples say. Calls made at the same time may come in any order. */
function pretend(pack: Pack, lists: Readonly<Record<string, readonly unknown[]>>): Pretended {
  const { prefix } = pack.dialect.v4;
  let expected: (WrittenCall & ExampleDefinition["v4"][number])[] = [];
  let report: (message: string) => void = () => undefined;
  return {
    expect(calls, mismatch) {
      expected = calls.map((call) => ({ ...call, ...splitCall(call.call, prefix) }));
      report = mismatch;
    },
    left: () => expected.length,
    call(sent) {
      if (sent.headers["authorization"] === undefined)
        return Promise.resolve(catalogAnswer(lists, sent.path, pack));
      const same = expected.findIndex(({ method, path }) => method === sent.method && path === sent.path);
      const [next] = expected.splice(Math.max(0, same), 1);
      if (!next) report(`v4 is called once more than expected: ${sent.method} ${sent.path}`);
      else for (const message of differences(sent, next, pack.dialect.filter.header)) report(message);
      const given = answered(next?.status ?? 200, next?.answers);
      return Promise.resolve(
        next?.file === undefined ? given : { ...given, headers: { "content-type": next.file } },
      );
    },
    close: () => Promise.resolve(),
  };
}

/** The members in which two bodies differ, one a line. */
function bodyDifference(made: unknown, wanted: unknown, path = "body"): string[] {
  if (isDeepStrictEqual(made, wanted)) return [];
  const both = [made, wanted].every((value) => typeof value === "object" && value !== null);
  if (!both || Array.isArray(made) !== Array.isArray(wanted))
    return [`${path} is ${show(made)}, expected ${show(wanted)}`];
  const [left, right] = [made, wanted] as Record<string, unknown>[];
  return [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])].flatMap((key) =>
    bodyDifference(left?.[key], right?.[key], `${path}.${key}`),
  );
}

/** A road over a pretended v4 whose catalogs have been read. */
async function roadOver(
  pack: Pack,
  lists: Readonly<Record<string, readonly unknown[]>>,
): Promise<{ readonly v4: Pretended; readonly road: DryRun }> {
  const v4 = pretend(pack, lists);
  const road = createDryRun(pack, v4);
  await road.catalogs.refresh();
  return { v4, road };
}

/** Runs all examples of a pack through the whole road. Each fault says where the example stands and what differs. */
export async function runExamples(
  pack: Pack,
  examples: readonly Example[],
  lists: Readonly<Record<string, readonly unknown[]>>,
): Promise<Diagnostic[]> {
  const faults: Diagnostic[] = [];
  const usual = await roadOver(pack, lists);
  for (const { source, definition } of examples) {
    const { catalogs } = definition;
    const { v4, road } = catalogs ? await roadOver(pack, { ...lists, ...catalogs }) : usual;
    const report = (message: string, path: PropertyKey[] = ["v4"]) =>
      void faults.push(source.diagnosticAt(path, message));
    v4.expect(definition.v4, report);
    const { response: answer } = await road.send({
      ...splitCall(definition.alpha, pack.dialect.alpha.prefix),
      ...(definition.headers && { headers: definition.headers }),
      body: definition.body,
      file: definition.file,
    });
    if (v4.left() > 0) report(`${v4.left()} expected v4 calls were not made`);
    const { status, body, file } = definition.gives;
    if (answer.status !== status)
      report(`status is ${answer.status}, expected ${status}: ${answer.body}`, ["gives", "status"]);
    else if (file !== answer.file?.type) report(`file is ${answer.file?.type}, expected ${file}`, ["gives"]);
    else if (!file)
      for (const message of bodyDifference(JSON.parse(answer.body), body)) report(message, ["gives", "body"]);
    if (catalogs) road.catalogs.stop();
  }
  usual.road.catalogs.stop();
  return faults;
}
