/** `coverage --fail-below`: neither a stranger nor a client decides by how much it sends. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";

const SERVED = "/old/books";
/** The old service serves it, and the pack has no such route. */
const REFUSED = "/old/rare";
/** Needs no token. */
const PUBLIC = "/old/shelves";
const STRANGER = "198.51.100.7";

let folder: string;
const printed = captureCommands();
beforeEach(async () => {
  folder = temporaryFolder();
});

interface Sent {
  readonly address: string;
  readonly token: string;
  readonly query?: string;
  readonly agent?: string;
  readonly label?: string;
}

let ids = 0;
/** A call with which the old service was content. */
function call(path: string, { address, token, query = "", ...sender }: Sent): AuditRecord {
  const sample = sampleRecord(`r${(ids += 1)}`, { client: token, lane: "legacy", accepted: true, ...sender });
  return {
    ...sample,
    client: { ...sample.client, address },
    alpha: { method: "GET", path, query, route: null, filter: null, status: 200 },
    v4: [],
  };
}

const repeat = (count: number, create: (index: number) => AuditRecord): AuditRecord[] =>
  Array.from({ length: count }, (_, index) => create(index));

/** The calls of clients, each of a network of its own. */
const customers = (count: number, path = SERVED, network = "203.0.113"): AuditRecord[] =>
  repeat(count, (index) => call(path, { address: `${network}.${index}`, token: `${network}-${index}` }));

/** One call of a client that has called another route before. */
const breaking = (address = "203.0.113.250", token = "breaking"): AuditRecord[] => [
  call(SERVED, { address, token }),
  call(REFUSED, { address, token }),
];

async function gate(records: readonly AuditRecord[], least = "95%", ...flags: string[]): Promise<number> {
  const file = join(folder, "records.ndjson");
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const source = [`--from=${file}`, `--fail-below=${least}`];
  return runCommandLine(["coverage", "--mappings-dir=examples/library/pack", ...source, ...flags]);
}

describe.each([1, 100])("the gate, as one sender has %i calls for each one of the others", (growth) => {
  test("is not passed by invented tokens", async () => {
    const flood = repeat(20 * growth, (index) =>
      call(SERVED, { address: STRANGER, token: `made-up-${index}`, agent: `agent${index}/1` }),
    );
    expect(await gate([...customers(4), ...breaking(), ...flood])).toBe(1);
  });

  test("does not become green by a client that repeats what would be served", async () => {
    const many = repeat(20 * growth, () => call(SERVED, { address: "203.0.113.1", token: "203.0.113-1" }));
    expect(await gate([...customers(4), ...breaking(), ...many])).toBe(1);
  });

  test("does not become green by a client that repeats its own calls with other values", async () => {
    const many = repeat(20 * growth, (index) =>
      call(SERVED, { address: "203.0.113.250", token: "breaking", query: `page=${index + 1}` }),
    );
    expect(await gate([...breaking("203.0.113.251", "another"), ...breaking(), ...many], "90%")).toBe(1);
  });

  test("does not become green by a client that has many addresses", async () => {
    const many = repeat(20 * growth, (index) =>
      call(SERVED, { address: `192.0.${index % 250}.1`, token: "203.0.113-1" }),
    );
    expect(await gate([...customers(4), ...breaking(), ...many])).toBe(1);
  });

  test("does not become red by a client that repeats what would be refused", async () => {
    const many = repeat(20 * growth, () => call(REFUSED, { address: "203.0.113.250", token: "breaking" }));
    expect(await gate([...customers(99), ...breaking(), ...many])).toBe(0);
  });

  test("is not failed by calls of unknown senders: without them the gate passes", async () => {
    const many = repeat(growth, (index) => call(REFUSED, { address: STRANGER, token: `made-up-${index}` }));
    expect(await gate([...customers(4), ...many])).toBe(2);
    expect(printed()).toContain("1 network has refused calls with unproven tokens");
    expect(await gate([...customers(99), ...many])).toBe(0);
  });

  test("is not passed by an unknown sender in the network of a client, whose token is unproven", async () => {
    const many = repeat(20 * growth, (index) =>
      call(PUBLIC, { address: "203.0.113.250", token: "made-up", query: `sent${index}=1` }),
    );
    expect(await gate([...customers(4), ...breaking(), ...many])).toBe(1);
    expect(await gate([...customers(4), ...many, ...breaking()])).toBe(1);
  });

  test("does not become red by calls without a token", async () => {
    const many = repeat(growth, () => {
      const record = call(REFUSED, { address: STRANGER, token: "" });
      return { ...record, client: { ...record.client, fingerprint: null } };
    });
    expect(await gate([...customers(4), ...many])).toBe(0);
  });
});

test("one client says too little: neither green nor red", async () => {
  expect(await gate(customers(1))).toBe(2);
  expect(printed()).toContain("The mean of the clients is not known: one client does not decide");
});

test("a call of a path that looks like the name of a route proves no token", async () => {
  const stranger = call("/books", { address: STRANGER, token: "made-up" });
  expect(await gate([...customers(4), stranger])).toBe(2);
});

test("clients of one network count once each where a name tells them apart, but not by their user agents", async () => {
  const clients = join(folder, "clients.yaml");
  writeFileSync(clients, "agents: { user_agents: [agent/*] }\ntokens: { tokens: [00000000000000cc] }\n");
  const address = "203.0.113.9";
  const records = [
    call(SERVED, { address, token: "a", agent: "agent/1" }),
    call(SERVED, { address, token: "b", agent: "other/1" }),
  ];
  expect(await gate(records, "95%", `--clients-file=${clients}`)).toBe(2);
  expect(printed()).toContain("1 client counts");
  records.push(
    call(SERVED, { address, token: "00000000000000cc" }),
    call(SERVED, { address, token: "d", label: "by a proxy" }),
  );
  expect(await gate(records, "95%", `--clients-file=${clients}`)).toBe(0);
  expect(printed()).toContain("3 clients count");
});

test("the text says how much one client has of the calls, and that the clients are few", async () => {
  const many = repeat(95, () => call(SERVED, { address: "203.0.113.1", token: "203.0.113-1" }));
  await gate([...customers(4), ...breaking(), ...many]);
  expect(printed()).toContain("99 % of the calls would be served: 100 of 101");
  expect(printed()).toContain("87.5 % is the mean of the clients, each counted once, without the best one");
  expect(printed()).toContain("95.04 % of their calls are those of one client");
  expect(printed()).toContain("5 clients count, by name or network: name more of them (CLIENTS_FILE)");
});

test("an archive is one client, which its maker knows", async () => {
  const entry = (path: string): object => ({
    startedDateTime: "2026-03-01T10:00:00.000Z",
    request: { method: "GET", url: `https://old.example${path}`, headers: [], queryString: [] },
    response: { status: 200, headers: [], content: {} },
  });
  const file = join(folder, "calls.har");
  const cover = (...paths: string[]): Promise<number> => {
    writeFileSync(file, JSON.stringify({ log: { version: "1.2", entries: paths.map(entry) } }));
    const flags = [`--from=${file}`, "--fail-below=99%"];
    return runCommandLine(["coverage", "--mappings-dir=examples/library/pack", ...flags]);
  };
  expect(await cover(SERVED)).toBe(0);
  expect(await cover(REFUSED, ...Array.from({ length: 200 }, () => SERVED))).toBe(1);
});
