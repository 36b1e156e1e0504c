/**
 * All work on text that clients control is linear (issue 13, 3): an input that is twice as long takes twice as long,
 * whatever stands in it. Work is the time of a thread, so that what else runs on the machine changes nothing.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { csvRow } from "../../../src/audit/export/csv.ts";
import { createRedaction } from "../../../src/audit/redact.ts";
import { secretNames } from "../../../src/audit/secret-names.ts";
import { readAuditQuery, readUsageQuery } from "../../../src/admin/audit-query.ts";
import { normalizeDateTime } from "../../../src/dialect/date-time.ts";
import { createGrammar } from "../../../src/dialect/filter/grammar.ts";
import { parseFilter } from "../../../src/dialect/filter/parse-filter.ts";
import { isJson } from "../../../src/dialect/json/scan.ts";
import { parseJson, printJson } from "../../../src/dialect/json/parse.ts";
import { shellQuote, shellComment } from "../../../src/tools/explain/curl.ts";
import { credentialScheme, parseCredentials } from "../../../src/pipeline/stages/authenticate.ts";
import type { AlphaRequest } from "../../../src/pipeline/context.ts";
import { matchRoute } from "../../../src/pipeline/stages/match-route.ts";
import { parseBody } from "../../../src/pipeline/stages/read-body.ts";
import { requestIdOf } from "../../../src/pipeline/http/request-context.ts";
import { traceparentOf } from "../../../src/pipeline/upstream-call.ts";
import { requestedFilter, requestedPage } from "../../../src/pipeline/stages/build-list-request.ts";
import { clientAddresses, addressNetwork, normalizeAddress } from "../../../src/rate-limit/client-address.ts";
import { networkAddress, shortestAddress } from "../../../src/mapping/compile/ip-address.ts";
import { loadPack } from "../../../src/mapping/load/load-pack.ts";
import { splitPath } from "../../../src/mapping/router.ts";
import { parseQuestions } from "../../../src/sandbox/resources/stackscript.ts";
import { LINEAR, growth, tooMuch } from "./growth.ts";

const pack = loadPack("mappings");
const { dialect, scopes } = pack;
const grammar = pack.grammar ?? createGrammar({ header: "", operators: {} }, {});
/** What is squared takes tens of milliseconds for the longest of them; what is linear hardly one. */
const LENGTHS = [1 << 10, 1 << 14];

const request = (parts: Partial<AlphaRequest>): AlphaRequest => ({
  id: "id",
  startedAt: performance.now(),
  method: "POST",
  path: "/v4/vm/instances",
  query: "",
  headers: {},
  address: "192.0.2.1",
  signal: new AbortController().signal,
  ...parts,
});
const withHeader = (name: string, line: string): AlphaRequest => request({ headers: { [name]: [line] } });

/** A rejection is as good as a result. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const redaction = createRedaction({ names: dialect.secrets, bodyLimit: 1 << 20 });
const names = secretNames(dialect.secrets);
const addressOf = clientAddresses(["127.0.0.1", "192.0.2.0/24"]);
const forwarded = (line: string): IncomingMessage =>
  ({
    socket: { remoteAddress: "127.0.0.1" },
    headers: { "x-forwarded-for": line },
  }) as unknown as IncomingMessage;

/** What reads text of clients, by what it reads. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "the credentials of a request": (text) =>
    parseCredentials(withHeader("authorization", `token ${text}`), "token"),
  "any Authorization": (text) => parseCredentials(withHeader("authorization", text), "token"),
  "the scheme of credentials": credentialScheme,
  "a request id": requestIdOf,
  traceparent: (text) => traceparentOf(withHeader("traceparent", text)),
  "X-Forwarded-For": (text) => addressOf(forwarded(text)),
  "an address": normalizeAddress,
  "the network of an address": addressNetwork,
  "an address of a body": shortestAddress,
  "a network of a body": (text) => networkAddress(text, 64),
  "a path": splitPath,
  "the route of a path": (text) => matchRoute(request({ path: `/v4/vm/distributions/${text}` }), pack),
  "the page of a query": (text) => requestedPage(request({ query: `page=${text}` }), "page"),
  "a query": (text) => requestedPage(request({ query: text }), "page"),
  "the filter of a request": (text) =>
    requestedFilter(withHeader(grammar.header.toLowerCase(), text), grammar),
  "a filter": (text) => parseFilter(text, grammar),
  "a Content-Type": (text) => parseBody(withHeader("content-type", text), Buffer.from("{}")),
  "the parameters of a Content-Type": (text) =>
    parseBody(withHeader("content-type", `application/json;${text}`), Buffer.from("{}")),
  "the body of a request": (text) => parseBody(request({}), Buffer.from(text)),
  JSON: parseJson,
  "a JSON string": (text) => parseJson(JSON.stringify(text)),
  "a list of JSON": (text) => parseJson(`[${text}0]`),
  "the keys of JSON": (text) => parseJson(`{${text}"z":0}`),
  "whether text is JSON": (text) => isJson(text),
  "a value that is written as JSON": printJson,
  "a moment": normalizeDateTime,
  "scopes that are asked for": (text) => scopes.read(text),
  "scopes in v4's words": (text) => scopes.toV4(text),
  "scopes of v4": (text) => scopes.toAlpha(text, text),
  "grants of v4": (text) => scopes.grants(text),
  "the parameters of an audit page": (text) =>
    readAuditQuery(
      Object.fromEntries(
        ["limit", "before", "client", "route", "status", "since", "until", text].map((name) => [name, text]),
      ),
    ),
  "the parameters of usage": (text) => readUsageQuery({ since: text, client: text, [text]: "a" }),
  "a cell of an export": (text) => csvRow([text]),
  "a word of a shell": shellQuote,
  "a remark of a shell": shellComment,
  "the questions of a script": (text) => parseQuestions(`# <UDF name="${text}" label=${text}>`),
};

/** Redaction, by what is redacted. */
const REDACTED: Readonly<Record<string, (text: string) => unknown>> = {
  "a header": redaction.text,
  "a query": redaction.query,
  "a body of text": (text) => redaction.raw(text),
  "a body of bytes": (text) => redaction.raw(Buffer.from(text, "latin1")),
  "a string of a body": (text) => redaction.value({ a: text }),
  "a key of a body": (text) => redaction.value({ [text]: text }),
  "JSON in a string": (text) => redaction.value({ a: JSON.stringify({ b: text }) }),
  "an answer": (text) => redaction.json(JSON.stringify({ a: text })),
  "a cut body": (text) => redaction.raw(`{"a":"${text}`),
  "a name": names.has,
  "where a name stands": names.firstIn,
  "whether a name stands": names.maybeIn,
};

describe("functions that read clients' text take linear time", () => {
  test.each(Object.entries(READERS))("reading %s", (_name, read) => {
    expect(tooMuch((text) => outcome(() => read(text)), LENGTHS)).toEqual([]);
  });
  test.each(Object.entries(REDACTED))("redacting %s", (_name, redact) => {
    expect(tooMuch((text) => outcome(() => redact(text)), LENGTHS)).toEqual([]);
  });
});

/** A literal of a regular expression, where a value can stand. */
const LITERAL =
  /(?<=(?:[=(,:?&|!;{}[]|return|=>)\s*)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)(?![\w/])/g;

/** Every regular expression of the code, by the file that it stands in. */
const expressions = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) => {
    const code = readFileSync(join("src", file), "utf8").replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, "");
    return [...code.matchAll(LITERAL)].map(([literal, source = "", flags = ""]) => ({
      file,
      literal,
      source,
      flags,
    }));
  });

describe("every regular expression of the code is linear", () => {
  test("are found in the sources", () => expect(expressions.length).toBeGreaterThan(150));

  test.each(expressions)("in $file: $literal", ({ source, flags }) => {
    const expression = new RegExp(source, flags.replace("y", ""));
    expect(tooMuch((text) => text.replace(expression, ""), LENGTHS)).toEqual([]);
  });
});

describe("the measured growth", () => {
  const letters = (length: number): string => "a".repeat(length);

  test("is quadratic for a function that scans its text per character", () => {
    const squared = (text: string): number => {
      let found = 0;
      for (let from = 0; from < text.length; from += 1)
        for (let at = from; at < text.length; at += 1) found += text.charCodeAt(at);
      return found;
    };
    expect(growth(squared, letters, [1 << 12])).toBeGreaterThan(LINEAR);
  });

  test("is linear for a function that scans it once", () => {
    const linear = (text: string): number =>
      text.split("").reduce((sum, each) => sum + each.charCodeAt(0), 0);
    expect(growth(linear, letters, [...LENGTHS, 1 << 20])).toBeLessThan(LINEAR);
  });
});
