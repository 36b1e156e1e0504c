/** `alpha-gateway parity`, in this process, with a state store of its own. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redaction } from "../../../src/audit/redact/redact.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import type { Log } from "../../../src/base/log/log.ts";
import type { Compared } from "../../../src/compare/answers/comparison.ts";
import { openComparisons } from "../../../src/compare/counts/comparisons.ts";
import { createCoverage } from "../../../src/compare/counts/coverage.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { provenBy } from "../../../src/gateway/auth/proven-by.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { answer, different, equal } from "./make-compared.ts";
import { exampleFolder } from "../../support/packs.ts";

const PACK = "examples/library/pack";
const ROUTE = "GET /books/:number";
const redaction = new Redaction({ names: ["password"], bodyLimit: 65_536 });

let folder: string;
const printed = captureCommands();
beforeEach(() => {
  folder = temporaryFolder();
});

async function report(...all: readonly Compared[]): Promise<void> {
  const state = openSqliteKeyValueStore({ directory: folder });
  const comparisons = openComparisons({
    state,
    redaction: () => redaction,
    cover: createCoverage(loadPack(PACK)),
    metrics: { countComparison() {}, countNoRoom() {} },
    log: { info() {}, error() {} } as unknown as Log,
  });
  for (const one of all) comparisons.report(one);
  await comparisons.close();
  await state.close();
}

const run = (...args: readonly string[]): Promise<number> =>
  runCommandLine(["parity", ...args, `--data-dir=${folder}`, `--mappings-dir=${PACK}`]);

const BOOK = {
  number: 7,
  title: "Waves",
  state: "lent",
  shelf: { code: "Z9", room: "lost" },
  price: null,
  lent_to: "Ada",
  since: null,
};
const call = (path: string, response: unknown) => ({
  method: "GET",
  path,
  filter: null,
  status: 200,
  response: { bytes: Buffer.from(JSON.stringify(response)) },
  ms: 1,
});
const equals = (count: number, others: Partial<Compared> = {}): Compared[] =>
  Array.from({ length: count }, (_, n) =>
    equal(`case ${n}`, {
      route: ROUTE,
      provenBy: `client ${n % 10}`,
      answer: Buffer.from(JSON.stringify(BOOK)),
      ...others,
    }),
  );
const difference = (others: Partial<Compared> = {}): Compared =>
  different("other", {
    route: ROUTE,
    differences: [{ field: "title", kind: "value", old: '"Waves"', new: '"waves"' }],
    sample: {
      method: "GET",
      path: "/old/books/7",
      filter: null,
      old: answer(BOOK),
      new: answer({ ...BOOK, title: "waves" }),
      calls: [
        call("/api/new/items/7", {
          id: 7,
          name: "Waves",
          status: "out",
          password: "sesame-open",
          location: { shelf_id: "Z9" },
        }),
        call("/api/new/items/7/loan", { reader: "Ada" }),
      ],
    },
    ...others,
  });

async function exampleId(): Promise<string> {
  await run("--format=json");
  return /"examples": \[\s*"([^"]+)"/.exec(printed())?.[1] ?? "";
}

describe("check", () => {
  const lines = (field: string, until: string): string =>
    `- { route: "${ROUTE}", field: ${field}, kind: value, reason: known, until: ${until} }\n`;
  const checkPack = async (): Promise<number> => {
    const pack = join(folder, "pack");
    cpSync(PACK, pack, { recursive: true });
    writeFileSync(
      join(pack, "accepted-differences.yaml"),
      lines("title", "2999-01-01") + lines("price", "2999-01-01") + lines("state", "2020-01-01"),
    );
    return runCommandLine(["check", pack, `--data-dir=${folder}`]);
  };
  const warnings = (): string[] =>
    [...printed().matchAll(/^warning: .*yaml:(.*)$/gm)].map(([, text = ""]) => text);

  test("warns of accepted differences that no comparison has used, once there are enough, and of old ones", async () => {
    const accepted = { result: "accepted", accepted: [{ field: "title", kind: "value" }] } as const;
    await report(...equals(3000), equal("accepted", { route: ROUTE, ...accepted }));
    expect(await checkPack()).toBe(0);
    expect(warnings()).toEqual([
      "2:3: no comparison has used it, although its route has enough of them",
      "3:3: it accepts nothing since 2020-01-01 has passed",
    ]);
  });

  test("warns of old lines alone where nothing was compared", async () => {
    expect(await checkPack()).toBe(0);
    expect(warnings()).toEqual(["3:3: it accepts nothing since 2020-01-01 has passed"]);
  });
});

describe("parity", () => {
  test("says how many distinct comparisons are missing, and never a percentage below", async () => {
    await report(...equals(124), ...equals(124));
    expect(await run()).toBe(0);
    expect(printed()).toContain(
      `${ROUTE}\n  not enough: 124 of 2,995, 0 differ\n  248 comparisons: 248 equal\n`,
    );
    expect(printed()).not.toMatch(/not enough:.*%/);
  });

  test.each([300, 3000, 30_000])(
    "says that clients are missing where one of them proves all, whatever it sends: %i cases",
    async (cases) => {
      await report(...equals(cases, { provenBy: "client 1" }));
      expect(await run("--fail-above=0.1%")).toBe(2);
      expect(printed()).toContain("  not enough: 300 of 2,995, 0 differ; not enough clients: 1 of 10\n");
      await run("--format=json");
      expect(printed()).toMatch(/"clients": 1,\s+"distinct": 300,/);
    },
  );

  test.each([300, 30_000])(
    "counts of one client at most a tenth, beside nine with a few cases each: %i cases",
    async (cases) => {
      await report(
        ...equals(cases, { provenBy: "busy" }),
        ...Array.from({ length: 10 }, (_, client) =>
          equals(5, { provenBy: `client ${client}` }).map((each) => ({
            ...each,
            key: `${client} ${each.key}`,
          })),
        ).flat(),
      );
      expect(await run("--fail-above=0.1%")).toBe(2);
      expect(printed()).toContain("  not enough: 350 of 2,995, 0 differ\n");
    },
  );

  test("counts a case once that several clients have, and that of a client which has all of them does not take theirs", async () => {
    const same = Array.from({ length: 20 }, (_, client) =>
      equals(300, { provenBy: `client ${client}` }),
    ).flat();
    await report(...same);
    expect(await run("--fail-above=0.1%")).toBe(2);
    expect(printed()).toContain("  not enough: 300 of 2,995, 0 differ\n");
    await report(...equals(3000), ...equals(3000, { provenBy: "busy" }));
    expect(await run("--fail-above=0.1%")).toBe(0);
  });

  describe("counts clients without a name by tokens and networks, the fewer of them", () => {
    test.each([
      ["one token from one network", 1, 1],
      ["one token from 20 networks", 1, 20],
      ["20 tokens from one network", 20, 1],
      ["20 tokens, each from any of 9 networks", 20, 9],
      ["9 tokens, each from any of 20 networks", 9, 20],
    ])("%s", async (_what, tokens, networks) => {
      const all = equals(300).map((each, n) => ({
        ...each,
        provenBy: provenBy(undefined, `token ${n % tokens}`, `203.0.${Math.floor(n / tokens) % networks}.1`),
      }));
      // In two parts, as two flushes have them.
      await report(...all.slice(0, 150));
      await report(...all.slice(150));
      expect(await run("--fail-above=1%")).toBe(2);
      expect(printed()).toMatch(/not enough clients: \d of 10\n/);
    });

    test("20 tokens, each from its own network, are enough", async () => {
      await report(
        ...equals(300).map((each, n) => ({
          ...each,
          provenBy: provenBy(undefined, `token ${n % 20}`, `203.0.${n % 20}.1`),
        })),
      );
      expect(await run("--fail-above=1%")).toBe(0);
    });
  });

  test("counts nothing of unknown senders", async () => {
    await report(...equals(3000, { provenBy: undefined }));
    expect(await run("--fail-above=50%")).toBe(2);
    expect(printed()).toContain("  not enough: 0 of 5, 0 differ; not enough clients: 0 of 10\n");
  });

  test("says what no answer has shown, and which routes had no traffic", async () => {
    await report(...equals(3));
    await run();
    expect(printed()).toMatch(/without a value so far: price, since\n/);
    expect(printed()).toMatch(/words not seen so far: state=available\n/);
    expect(printed()).toMatch(/routes without traffic: GET \/books,/);
  });

  test.each([
    ["not enough to say that fewer than 0.1 % of the answers differ", "not enough on 1", equals(3)],
    ["more than 0.1 % of the answers differ", "too many differ on 1", [difference()]],
    ["enough: fewer than 0.1 % of the answers differ on each compared route", "enough on 1", equals(2995)],
  ])("begins with the answer, and then says on how many routes: %s", async (words, routes, all) => {
    await report(...all, ...all.map((each) => ({ ...each, source: "legacy" as const })));
    await run();
    expect(printed()).toMatch(
      new RegExp(`^candidate: ${words}\nlegacy: ${words}\n\ncandidate: 1 route since .* UTC: ${routes}\n\n`),
    );
  });

  test("lists ten routes and five names, and says where all of them are", async () => {
    const routes = Array.from({ length: 12 }, (_, index) => `GET /shelves/${index}`);
    const answerWithWords = Buffer.from(JSON.stringify({ number: 7 }));
    await report(
      ...equals(1, { answer: answerWithWords }),
      ...routes.flatMap((route) => equals(1, { route })),
    );
    await run();
    expect(printed().match(/^GET \//gm)).toHaveLength(10);
    expect(printed()).toContain("\nand 3 more routes (--format json has all)\n");
    expect(printed()).toMatch(
      /\n\d+ routes without traffic: (?:\S+ \S+, ){4}\S+ \S+ and \d+ more \(--format json has all\)\n$/,
    );
    await run("--route", ROUTE);
    expect(printed()).toMatch(/without a value so far: (?:\w+, ){4}\w+ and \d more\n/);
  });

  test.each([
    ["0 where enough answers are equal", 300, [], 0],
    ["2 where more are needed", 298, [], 2],
    ["1 where too many differ", 50, [difference()], 1],
    ["2 where one differs and more are needed", 200, [difference()], 2],
    [
      "2 where a route had no comparable answer",
      300,
      [equal("1", { route: "GET /books", result: "not_comparable", reason: "cursor", key: undefined })],
      2,
    ],
  ] as const)("--fail-above=1%% exits with %s", async (_, equalCount, others, code) => {
    await report(...equals(equalCount), ...others);
    expect(await run("--fail-above=1%")).toBe(code);
  });

  test("--fail-above exits with 2 where nothing was compared, and for what is no rate", async () => {
    expect(await run("--fail-above=0.1%")).toBe(2);
    expect(printed()).toBe("Nothing was compared yet.\n");
    expect(await run("--fail-above=much")).toBe(2);
    expect(await run("--source=other")).toBe(2);
  });

  test("is about one route or source if it is asked so", async () => {
    await report(...equals(300), difference({ route: "GET /books" }), ...equals(3, { source: "legacy" }));
    expect(await run("--route", ROUTE, "--source=candidate", "--fail-above=1%")).toBe(0);
    expect(printed()).not.toContain("legacy");
  });

  test("show asks a gateway without LEGACY_URL for the translation: one with it may answer as the old service", async () => {
    await report(difference({ source: "legacy" }));
    expect(await run("show", await exampleId())).toBe(0);
    expect(printed()).toMatch(/# old service\ncurl -g "\$LEGACY_URL"'\/old\/books\/7'/);
    expect(printed()).toMatch(/# gateway\ncurl -g "\$GATEWAY_WITHOUT_LEGACY_URL"'\/old\/books\/7'/);
  });

  test("show prints both bodies, the line of the pack, and commands for both sides", async () => {
    await report(difference());
    const id = await exampleId();
    expect(await run("show", id)).toBe(0);
    expect(printed()).toMatch(/! title +"Waves" +"waves"\n/);
    expect(printed()).toMatch(/ {2}state +"lent" +"lent"\n/);
    expect(printed()).toContain("title: book.yaml:7: from name\n");
    expect(printed()).toMatch(/# active pack\ncurl -g "\$GATEWAY"'\/old\/books\/7'/);
    expect(printed()).toMatch(/# candidate\ncurl -H "X-Pack: 4567" .*\/old\/books\/7/);
    expect(printed()).toMatch(/# the calls to the upstream\ncurl .*\/api\/new\/items\/7/);
    expect(printed()).not.toContain("sesame");
    expect(await run("show", "nothing")).toBe(2);
    expect(await run("show", id, `--candidate-mappings-dir=${PACK}`)).toBe(0);
    expect(printed()).toContain(
      "title, active pack: book.yaml:7: from name\ntitle, candidate: book.yaml:7: from name\n",
    );
  });

  test("example writes a golden case into the pack, without secrets", async () => {
    const pack = join(folder, "pack");
    cpSync(PACK, pack, { recursive: true });
    await report(difference());
    const id = await exampleId();
    expect(await run("example", id, "--pack", pack)).toBe(0);
    const file = join(pack, "examples", "book", `difference-${id}.yaml`);
    const text = readFileSync(file, "utf8");
    expect(text).toContain('title: "GET /books/:number: title (value) as before"');
    expect(text).toContain("request: GET /books/7\n");
    expect(text).not.toContain("sesame");
    expect(await run("example", id, "--pack", pack)).toBe(2);
    expect(await runCommandLine(["check", pack])).toBe(0);
  });

  test.each([
    [
      "from clients",
      "payments",
      "POST /v1/customers",
      "email=a@b.example&name=Ada&metadata[plan]=gold",
      {
        path: "/api/customers",
        sent: { email: "a@b.example", fullName: "Ada", metadata: { plan: "gold" } },
        response: { id: 5, email: "a@b.example", fullName: "Ada", createdAt: "2026-01-01T12:00:01.000Z" },
        answer: {
          id: "cus_5",
          object: "customer",
          email: "a@b.example",
          name: "Ada",
          phone: null,
          metadata: null,
          created: 1767268801,
        },
      },
    ],
    [
      "to the upstream",
      "billing",
      "POST /quotes",
      '{"quote":{"note":"a","lines":[{"count":3}]}}',
      {
        path: "/v2/quotes",
        sent: { description: "a", items: [{ quantity: 3 }], currency: "eur" },
        response: { id: 5, description: "a" },
        answer: { id: 5, paid: null, note: "a", lines: null },
      },
    ],
  ])("example writes a golden case of a form %s that passes", async (_, example, request, body, to) => {
    const pack = join(folder, "pack");
    cpSync(exampleFolder(example), pack, { recursive: true });
    const [method = "", path = ""] = request.split(" ");
    const route = request.replace("/v1", "");
    const calls = [{ ...call(to.path, to.response), method, body: to.sent }];
    const sample = { method, path, filter: null, body: Buffer.from(body), calls };
    await report(difference({ route, sample: { ...sample, old: answer(to.answer), new: answer({}) } }));
    expect(await run("example", await exampleId(), "--pack", pack)).toBe(0);
    expect(await runCommandLine(["check", pack])).toBe(0);
  });

  test("reset deletes all sources, or one", async () => {
    await report(...equals(3), ...equals(3, { source: "legacy" }));
    expect(await run("reset", "--source=legacy")).toBe(0);
    expect(printed()).toBe("Forgot the comparisons of legacy.\n");
    await run();
    expect(printed()).toContain("candidate: 1 route since");
    expect(await run("reset")).toBe(0);
    expect(await run("reset")).toBe(0);
    expect(printed()).toMatch(/Forgot the comparisons of candidate\.\nNothing was counted yet\.\n$/);
  });
});
