/** Lists that have only the objects whose value is in a table: `where_values`. */
import { describe, expect, test } from "@jest/globals";
import { PackError } from "../../../src/base/files/diagnostic.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { json, type ReceivedRequest } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const operators = { and: "and", or: "or" };
const CLIENT = { filters: { header: "X-Filter", operators: { and: "+and", or: "+or" } } };
const HEADER = { filters: { header: "X-Filter", operators } };
const QUERY = { filters: { parameter: "{field}", in: { parameter: "{field}[]", multiple: "repeat" } } };
const KINDS = { state: { same: ["open"], read: { shut: "closed", gone: "closed" } } };

const packOf = (route: object, upstream: object = HEADER, values: object = KINDS) => ({
  client: CLIENT,
  upstream,
  pack: { values },
  book: {
    fields: { id: "id", title: { upstream: "name", filter: true } },
    routes: [{ client: "GET /books", upstream: "GET /items", response: "list", ...route }],
  },
});

/** The filter and the query that the upstream gets. */
async function sent(
  route: object,
  upstream?: object,
  values?: object,
  filter = "{}",
): Promise<{ filter: unknown; query: string }> {
  const gateway = await startSmallGateway(packOf(route, upstream, values));
  let call: ReceivedRequest | undefined;
  gateway.service.respondWith((received, response) => {
    call = received;
    return json(200, [])(received, response);
  });
  await gateway.send("GET /books", { headers: { "X-Filter": filter } });
  const { headers = {}, path = "" } = call ?? {};
  const header = headers["x-filter"];
  return { filter: header && JSON.parse(String(header)), query: path.split("?")[1] ?? "" };
}

describe("a list of the objects whose value is in a table", () => {
  const WHERE_VALUES = { where_values: { status: "state" } };
  const states = { or: [{ status: "open" }, { status: "shut" }, { status: "gone" }] };

  test("is filtered by the upstream values of the table", async () =>
    expect(await sent(WHERE_VALUES)).toEqual({ filter: states, query: "" }));

  test("by one value, if the table has one", async () =>
    expect((await sent(WHERE_VALUES, HEADER, { state: { same: ["open"] } })).filter).toEqual({
      status: "open",
    }));

  test("by another condition and the client's filter, too", async () =>
    expect(
      (await sent({ ...WHERE_VALUES, where: { old: false } }, HEADER, KINDS, '{"title":"a"}')).filter,
    ).toEqual({
      and: [{ name: "a" }, { and: [{ old: false }, states] }],
    }));

  test("in the query of the upstream", async () =>
    expect(decodeURIComponent((await sent(WHERE_VALUES, QUERY)).query)).toBe(
      "status[]=open&status[]=shut&status[]=gone",
    ));
});

describe("where_values that can't work are reported", () => {
  const problemsOf = (...given: Parameters<typeof packOf>): readonly string[] => {
    const folder = writeSmallPack(packOf(...given));
    try {
      loadPack(folder);
      return [];
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      return error.diagnostics.map(({ message }) => message);
    } finally {
    }
  };
  const route = { where_values: { status: "state" } };

  test.each<[string, Parameters<typeof packOf>, string]>([
    ["an unknown value kind", [{ where_values: { status: "other" } }], 'unknown value kind "other"'],
    ["a kind without a table", [route, HEADER, { state: { read: "$value" } }], "the value kind has no table"],
    ["an upstream without filters", [route, {}], 'has no effect: the upstream has no "filters"'],
    [
      "an upstream that can't choose between values",
      [route, { filters: { parameter: "{field}" } }],
      "the upstream can't filter by one of several values of a field",
    ],
    [
      "an upstream that can't combine conditions",
      [{ ...route, where: { old: false } }, { filters: { header: "X-Filter", operators: { or: "or" } } }],
      'several conditions need the operator "and" of the upstream',
    ],
    [
      "a route without a list of the upstream",
      [{ ...route, response: "object" }],
      '"where_values" needs a route whose list the upstream filters',
    ],
  ])("%s", (_name, given, message) =>
    expect(problemsOf(...given)).toEqual(expect.arrayContaining([expect.stringContaining(message)])),
  );
});
