/** `explain` of small packs: it prints the calls that the gateway makes, and rejects only what the gateway rejects. */
import { describe, expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { captureCommands } from "../../support/command-output.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";

const printed = captureCommands();

/** The exit code, the calls, and the comments before them. */
async function explain(pack: SmallPack, ...args: readonly string[]) {
  return explainIn(writeSmallPack(pack), ...args);
}

async function explainIn(folder: string, ...args: readonly string[]) {
  const code = await runCommandLine(["explain", "--mappings-dir", folder, ...args]);
  const lines = printed().split("\n");
  const calls = lines.flatMap((line) => {
    const [, method = "GET", path] = /^curl -g (?:-X (\w+) )?"\$\w+"'([^']*)'/.exec(line) ?? [];
    return path === undefined ? [] : [`${method} ${path}`];
  });
  return { code, calls, text: lines.join("\n") };
}

const EDIT = {
  bodies: { edit: { schema: { type: "object", properties: { title: { type: "string" } } } } },
  routes: [
    { client: "GET /books/:id", upstream: "GET /items/{id}" },
    {
      client: "PUT /books/:id",
      upstream: "PATCH /items/{id}",
      body: "edit",
      read_route: "GET /books/:id",
      only_changes: true,
    },
  ],
};

const PAGES = { page: { parameter: "page" }, size: { parameter: "size", maximum: 2 } };

describe("explain", () => {
  const wrapped = { upstream: { responses: { object: { item: "$object" } } }, book: EDIT };

  test("traces that change with the response of the upstream", async () => {
    const folder = writeSmallPack({
      ...wrapped,
      book: { ...EDIT, fields: { id: "id", title: "name", loud: { read: "$uppercase(name)" } } },
    });
    const file = join(folder, "response.json");
    writeFileSync(file, '{"item":{"id":1,"name":"a"}}');
    const args = ["-d", '{"title":"A"}', "--trace", "--response", file];
    expect(await runCommandLine(["explain", "--mappings-dir", folder, "PUT /books/1", ...args])).toBe(0);
    expect(printed()).toContain("status 200");
    expect(printed()).toContain('$uppercase(name) = "A"');
  });

  test("traces the response of a route that shares its path with a rejected one", async () => {
    const folder = writeSmallPack({
      pack: { messages: { no_word: "No such word" } },
      book: {
        routes: [
          { client: "GET /books/:id", upstream: "GET /items/{id}", when: '$path.id != "x"' },
          { client: "GET /books/:id", reject: "no_word" },
        ],
      },
    });
    const file = join(folder, "response.json");
    writeFileSync(file, '{"id":1,"name":"a"}');
    const args = ["GET /books/1", "--trace", "--response", file];
    expect(await runCommandLine(["explain", "--mappings-dir", folder, ...args])).toBe(0);
    const text = printed();
    expect(text).not.toContain("has no upstream request");
    expect(text).toContain("title");
  });

  test("does not reject a cursor that only an answer can have", async () => {
    const pack = {
      client: { pagination: { cursor: { parameter: "after", item: "id" }, size: 2 } },
      upstream: { pagination: PAGES },
      book: { routes: [{ client: "GET /books", upstream: "GET /items", response: "list" }] },
    };
    const { code, calls, text } = await explain(pack, "GET /books?after=4");
    expect([code, calls]).toEqual([0, ["GET /items?page=1&size=2"]]);
    expect(text).toContain("# the first page; others follow until the client's page is complete\ncurl");
  });

  test("says that calls of a list are sent for each page of the upstream", async () => {
    const pack = {
      client: { pagination: { offset: { parameter: "from" }, size: 5 } },
      upstream: { pagination: PAGES },
      book: {
        routes: [
          {
            client: "GET /books",
            upstream: "GET /items",
            response: "list",
            calls: [{ name: "notes", upstream: "GET /notes" }],
          },
        ],
        fields: { id: "id", title: "name", note: { read: "$calls.notes.text" } },
      },
    };
    const { text } = await explain(pack, "GET /books?from=7");
    expect(text).toContain('# additionally, for "notes"; again for each page of the upstream\ncurl');
  });

  test("says that a list is read from its start, where the upstream has cursors", async () => {
    const pack = {
      client: { pagination: { offset: { parameter: "from" }, size: 5 } },
      upstream: {
        responses: { list: { rows: "$items", next: "$next_cursor" } },
        pagination: { cursor: { parameter: "after" }, size: { parameter: "size", maximum: 4 } },
      },
      book: { routes: [{ client: "GET /books", upstream: "GET /items", response: "list" }] },
    };
    const { calls, text } = await explain(pack, "GET /books?from=7");
    expect(calls).toEqual(["GET /items?size=4"]);
    expect(text).toContain("# the first page; others follow");
  });

  test("shows requests before the call that are the same GET, and whose values the call does not use", async () => {
    const pack = {
      pack: {
        calls: {
          current: { at: "before", upstream: "GET /items/{id}" },
          place: { at: "before", upstream: "GET /places/{current.place}" },
        },
      },
      book: {
        routes: [{ client: "GET /books/:id", upstream: "GET /items/{id}", calls: ["current", "place"] }],
      },
    };
    const { calls, text } = await explain(pack, "GET /books/4");
    expect(calls).toEqual(["GET /items/4", "GET /places/{current.place}", "GET /items/4"]);
    expect(text).toContain("# the main call\n");
  });

  test("does not reject what depends on the answer to a request before the call", async () => {
    const check = { message: '$response.state = "open" ? "" : "It is closed."', status: 409 };
    const pack = {
      pack: { calls: { current: { at: "before", upstream: "GET /items/{id}", checks: [check] } } },
      book: {
        routes: [{ client: "DELETE /books/:id", upstream: "DELETE /items/{id}", calls: ["current"] }],
      },
    };
    expect(await explain(pack, "DELETE /books/4")).toMatchObject({
      code: 0,
      calls: ["GET /items/4", "DELETE /items/4"],
    });
  });

  test("shows each part of an object that the upstream has as several", async () => {
    const pack = {
      book: {
        routes: [
          {
            client: "GET /books/:id",
            upstream: "GET /items/{id}",
            calls: [{ part: "more", upstream: "GET /more/{id}" }],
          },
        ],
        fields: { id: "id", title: "name", size: "more.size" },
      },
    };
    const { calls, text } = await explain(pack, "GET /books/4");
    expect(calls).toEqual(["GET /items/4", "GET /more/4"]);
    expect(text).toContain("# a part of the same object\n");
  });

  const tid = { read: '"T" & $value', write: "$match($value, /^T[0-9]+$/) ? $substring($value, 1)" };
  const ids: SmallPack = {
    client: { path_parameters: { id: { values: "tid" } } },
    pack: { values: { tid } },
  };

  test("prints the upstream's path values and the missing body of a later call", async () => {
    const calls = [
      { upstream: "DELETE /items/{id}" },
      { name: "note", upstream: "POST /notes/{id}", body: '{"text":"gone"}' },
    ];
    const routes = [{ client: "DELETE /books/:id", upstream: "GET /items/{id}", calls }];
    const { calls: printedCalls, text } = await explain({ ...ids, book: { routes } }, "DELETE /books/T5");
    expect(printedCalls).toEqual(["GET /items/5", "DELETE /items/5", "POST /notes/5"]);
    expect(text.match(/; with a body, which is not shown/g)).toHaveLength(1);
  });

  test("prints the losses that are possible on the route", async () => {
    const pack = {
      book: {
        fields: { id: "id", visits: { object: "visit", read: "$calls.visits" } },
        routes: [
          { client: "GET /books", upstream: "GET /items", response: "list" },
          {
            client: "GET /books/:id",
            upstream: "GET /items/{id}",
            calls: [{ name: "visits", upstream: "GET /visits" }],
          },
        ],
      },
      others: { visit: { fields: { price: { upstream: "cost", loss: "cents", loss_when: "cost > 1" } } } },
    };
    await explain(pack, "GET /books/4");
    const { text } = await explain(pack, "GET /books");
    expect(text.match(/# possible loss .*/g)).toEqual(["# possible loss (detail): visits.price: cents"]);
  });

  test("prints the headers of every call", async () => {
    const pack = {
      book: {
        fields: { id: "id", title: "name", notes: { read: "$calls.notes.text" } },
        routes: [
          {
            client: "GET /:account/books",
            upstream: "GET /items",
            response: "list",
            headers: {
              request: {
                "X-Account": { upstream: "X-Owner", write: "$path.account", every_call: true },
                "X-Once": { write: '"main"' },
              },
            },
            calls: [
              { name: "shelf", at: "before", upstream: "GET /shelf" },
              { name: "notes", upstream: "GET /notes?ids={ids}", values: { ids: "$join(id, ',')" } },
            ],
          },
        ],
      },
    };
    const { calls, text } = await explain(pack, "GET /ann/books");
    expect(calls).toEqual(["GET /shelf", "GET /items", "GET /notes?ids={ids}"]);
    expect(text.match(/X-Owner: ann/g)).toHaveLength(3);
    expect(text.match(/X-Once: main/g)).toHaveLength(1);
  });

  test("says that all pages are read of a list that the gateway filters", async () => {
    const pack = {
      upstream: { pagination: PAGES },
      book: {
        routes: [
          {
            client: "GET /books",
            upstream: "GET /items",
            response: "list",
            aggregate: { include: "open", max_items: 10 },
          },
        ],
      },
    };
    const { calls, text } = await explain(pack, "GET /books");
    expect(calls).toEqual(["GET /items?page=1&size=2"]);
    expect(text).toContain("# all pages\ncurl");
  });
});

/** Requests of packs that are shipped: the calls, and comments before them. */
const SHIPPED: readonly (readonly [
  args: readonly string[],
  calls: readonly string[],
  comments: readonly string[],
])[] = [
  [
    ["mappings", "GET /vm/instances/5"],
    ["GET /v4/vm/instances/5", "GET /v4/vm/instances/5/transfer", "GET /v4/vm/instances/5/backups"],
    [
      'additionally, for "backups", if backups.enabled',
      "possible loss (detail): total_transfer: a part of a GB; 0 in lists",
    ],
  ],
  [
    ["mappings", "PUT /vm/instances/5/configs/7", "-d", '{"disks":{"sda":5}}'],
    [
      "GET /v4/vm/instances/5/configs/7",
      "PUT /v4/vm/instances/5/configs/7",
      "GET /v4/vm/instances/5/disks?page=1&page_size=100",
    ],
    ['additionally, for "disks", all pages'],
  ],
  [
    ["mappings", "POST /vm/instances/5/backups/cancel"],
    ["POST /v4/vm/instances/5/backups/cancel", "GET /v4/vm/instances/5"],
    ["after the call, for the response\ncurl"],
  ],
  [
    ["mappings", "PUT /vm/instances/5", "-d", "{}"],
    ["GET /v4/vm/instances/5", "GET /v4/vm/instances/5/transfer", "GET /v4/vm/instances/5/backups"],
    [],
  ],
  [
    ["mappings", "GET /vm/kernels/vm/latest_64"],
    ["GET /v4/vm/kernels"],
    ["not called now: the response comes from the catalog cache, which is filled by\ncurl "],
  ],
  [
    ["examples/shipping/pack", "PUT /labels/current", "-d", '{"paper":"a6"}'],
    ["PUT /prints/current", "GET /jobs/{response.job.id}", "GET /prints/{response.print}"],
    ["after the call, for the response, after a 202, every 10 ms for at most 1000 ms, until done"],
  ],
  [
    ["examples/shipping/pack", "GET /parcels/7/carriers"],
    [
      "GET /consignments/7",
      "GET /depots/{consignment.depot}",
      "GET /carriers?country={depot.address.country}&depot={consignment.depot}",
    ],
    [],
  ],
  [
    ["examples/shipping/pack", "GET /deliveries/states?ids=d3,d1,x,d2"],
    ["GET /drops/3", "GET /drops/1", "GET /drops/2"],
    ["once for each id\ncurl ", 'no call for the id "x", which has no value of the upstream'],
  ],
  [["examples/shop/pack", "POST /orders/5/refund"], ["POST /api/purchases/5/refunds"], []],
];

test.each(SHIPPED)("explain %j prints the calls", async ([folder = "", ...args], calls, comments) => {
  const explained = await explainIn(folder, ...args);
  expect([explained.code, explained.calls]).toEqual([0, calls]);
  for (const comment of comments) expect(explained.text).toContain(`# ${comment}`);
});

test.each([
  [["POST /vm/instances", "-d", '{"label":"x"}'], /^# {3}datacenter: This field is required\.$/m],
  [["GET /vm/instances", "-H", 'X-Filter: {"nope":1}'], /^# {3}nope cannot be filtered by\.$/m],
  [["POST /feedback"], /^# rejected by the gateway with 400\n# {3}This call has no counterpart/m],
  [["GET /nope"], /^# rejected by the gateway with 404: alpha has no such route$/m],
])("explain %j prints alpha's errors, and exits with 1", async (args, message) => {
  const { code, calls, text } = await explainIn("mappings", ...args);
  expect([code, calls]).toEqual([1, []]);
  expect(text).toMatch(message);
});

describe("explain -d", () => {
  const FORM = "application/x-www-form-urlencoded";
  const packOf = (...types: readonly string[]): SmallPack => ({
    client: { bodies: { media_types: types } },
    book: {
      fields: { id: "id", title: "name", pages: "size" },
      bodies: {
        write: { schema: { type: "object", properties: { title: {}, pages: { type: "integer" } } } },
      },
      routes: [{ client: "POST /books", upstream: "POST /items", body: "write" }],
    },
  });
  const BODY = `--data-raw '{"name":"Emma","size":12}'`;

  test.each([
    ["a form where clients send forms alone", packOf(FORM), "pages=12&title=Emma"],
    ["a form where clients send JSON or forms", packOf("application/json", FORM), "pages=12&title=Emma"],
    [
      "JSON where clients send forms or JSON",
      packOf(FORM, "application/json"),
      '{"pages":12,"title":"Emma"}',
    ],
  ])("takes %s", async (_, pack, data) => {
    const { code, text } = await explain(pack, "POST /books", "-d", data);
    expect(text).toContain(BODY);
    expect(code).toBe(0);
  });

  test("says what clients send in place of JSON", async () => {
    const { code, text } = await explain(packOf(FORM), "POST /books", "-d", '{"pages":12}');
    expect(text).toContain("-d is JSON, and clients of the pack send forms, such as name=a&tags[]=b");
    expect(code).toBe(1);
  });
});
