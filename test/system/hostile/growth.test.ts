/**
 * All work on text that clients control is linear: an input that is twice as long takes twice as long,
 * whatever stands in it.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { csvRow } from "../../../src/audit/export/csv.ts";
import { Redaction } from "../../../src/audit/redact/redact.ts";
import { continueTrace } from "../../../src/base/tracing/traceparent.ts";
import { secretNames } from "../../../src/audit/redact/secret-names.ts";
import { readAuditQuery, readUsageQuery } from "../../../src/audit/index.ts";
import { normalizeDateTime } from "../../../src/pack/fields/keys/date-time.ts";
import {
  createCredentialsFormat,
  credentialScheme,
  takeParameter,
} from "../../../src/pack/credentials/credentials.ts";
import { parseForm, printForm } from "../../../src/pack/bodies/form.ts";
import { findLink } from "../../../src/pack/lists/links.ts";
import { readOffsetCursor } from "../../../src/pack/lists/page-request.ts";
import { parseFilter } from "../../../src/pack/filters/parse-filter.ts";
import { isJson } from "../../../src/base/json/scan.ts";
import { parseJson, printJson } from "../../../src/base/json/parse.ts";
import { shellQuote, shellComment } from "../../../src/compare/dry-run/curl.ts";
import { createCredentialsReader } from "../../../src/gateway/stages/authenticate.ts";
import type { AlphaRequest } from "../../../src/gateway/request/request.ts";
import { matchRoute } from "../../../src/gateway/stages/match-route.ts";
import { addressNetwork } from "../../../src/base/index.ts";
import { parseBody } from "../../../src/gateway/stages/read-body.ts";
import { requestIdOf } from "../../../src/gateway/http/request-context.ts";
import { filterInHeader } from "../../../src/gateway/stages/build-list-request.ts";
import { clientAddresses, normalizeAddress } from "../../../src/gateway/limits/client-address.ts";
import { compileSchema } from "../../../src/pack/bodies/body-schema.ts";
import { compileFormValues } from "../../../src/pack/bodies/form-values.ts";
import { networkAddress, shortestAddress } from "../../../src/pack/values/ip-address.ts";
import { QueryFilter } from "../../../src/pack/filters/query-filter.ts";
import { formatParameter, parseQuery } from "../../../src/pack/paths/query.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { locationIn } from "../../../src/base/files/source-location.ts";
import { parseYaml } from "../../../src/base/files/yaml-source.ts";
import type { JsonObject } from "../../../src/pack/translation-context.ts";
import { splitPath } from "../../../src/pack/paths/router.ts";
import { parseQuestions } from "../../../src/sandbox/resources/services/stackscript.ts";
import { UNITS } from "../../../fuzz/worst/places.ts";
import { grow } from "../../../fuzz/worst/text.ts";
import { isLinear, takesNoLonger } from "../../support/growth.ts";

const pack = loadPack("mappings");
const { scopes } = pack;
const { grammar } = pack;
const queryFilter = new QueryFilter(
  {
    parameter: "filter[{field}]",
    operators: { gte: "{field}[gte]" },
    in: { parameter: "{field}", multiple: "comma" },
    sort: { parameter: "sort", ascending: "{field}", descending: "-{field}", multiple: "comma" },
  },
  new Map([["name", { type: "string", expected: "text", read: (text: string) => text }]]),
  () => false,
);
/** As long as all headers of a request. Quadratic work takes tens of milliseconds; linear work less than one. */
const LENGTH = 1 << 14;

/** Text around a shape, so that an expression starts to match, or fails only at the end. */
const FRAMES = [
  ["", ""],
  ["", "!"],
  ['a: "', '"=b'],
] as const;

/** Made once: making a text takes longer than most work on it. */
function remembered(make: (length: number) => string): (length: number) => string {
  const texts = new Map<number, string>();
  return (length) => {
    const text = texts.get(length) ?? make(length);
    texts.set(length, text);
    return text;
  };
}

/** Texts of any length that make expressions backtrack. */
const SHAPES = UNITS.flatMap((unit) =>
  FRAMES.map(([before, after]) => ({
    name: `${before}${unit}…${after}`,
    make: remembered((length) =>
      Buffer.from(grow({ before, unit, after }, length), "latin1").toString("latin1"),
    ),
  })),
);

/** The shapes of text on which the work is not linear. */
const tooMuch = (work: (text: string) => unknown): string[] =>
  SHAPES.filter(({ make }) => !isLinear(work, make, LENGTH)).map(({ name }) => name);

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

const readCredentials = createCredentialsReader({
  credentials: pack.credentials,
  nativeScheme: undefined,
  upstreamTokens: undefined,
});
const basic = createCredentialsFormat({ basic: "both" });
const cookie = createCredentialsFormat({ cookie: "session" });

/** A rejection is as good as a result. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const redaction = new Redaction({ names: pack.secretNames, bodyLimit: 1 << 20 });
const names = secretNames(pack.secretNames);
const addressOf = clientAddresses(["127.0.0.1", "192.0.2.0/24"]);
const forwarded = (line: string): IncomingMessage =>
  ({
    socket: { remoteAddress: "127.0.0.1" },
    headers: { "x-forwarded-for": line },
  }) as unknown as IncomingMessage;

const FORM_LIMITS = { maxDepth: 32, maxValues: 20_000 };
const readFormValues = compileFormValues({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "array", items: { type: "boolean" } } },
});

/** The body of a request that has a text as a name. */
const namedObject = (name: string, value: unknown): JsonObject =>
  parseBody(request({}), Buffer.from(JSON.stringify({ a: { [name]: value } })), pack).value as JsonObject;
const checkMembers = compileSchema(
  {
    type: "object",
    properties: {
      a: {
        type: "object",
        additionalProperties: { type: "object", properties: {}, additionalProperties: false },
      },
    },
  },
  locationIn(parseYaml("book.yaml", "{}"), []),
);

/** Functions that read text of clients, by the kind of text. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "the credentials of a request": (text) => readCredentials(withHeader("authorization", `token ${text}`)),
  "any Authorization": (text) => readCredentials(withHeader("authorization", text)),
  "Basic credentials": (text) => basic?.read(withHeader("authorization", `Basic ${text}`)),
  "a cookie": (text) => cookie?.read(withHeader("cookie", text)),
  "a token in a query": (text) => takeParameter(text, "key"),
  "the scheme of credentials": credentialScheme,
  "a request id": requestIdOf,
  traceparent: continueTrace,
  "X-Forwarded-For": (text) => addressOf(forwarded(text)),
  "an address": normalizeAddress,
  "the network of an address": addressNetwork,
  "an address of a body": shortestAddress,
  "a network of a body": (text) => networkAddress(text, 64),
  "a path": splitPath,
  "the route of a path": (text) => matchRoute(request({ path: `/v4/vm/distributions/${text}` }), pack),
  "the page of a query": (text) => pack.paging.readPage(parseQuery(`page=${text}`)),
  "a query": (text) => pack.paging.readPage(parseQuery(text)),
  "the links of a list": (text) => findLink(text, "next"),
  "a cursor of the gateway": (text) => readOffsetCursor(text),
  "the filter of a request": (text) =>
    filterInHeader(withHeader(grammar.header?.toLowerCase() ?? "", text), grammar),
  "a filter": (text) => parseFilter(text, grammar),
  "a filter in a query": (text) => queryFilter.parse(parseQuery(text)),
  "the values of a filter in a query": (text) => queryFilter.parse(parseQuery(`name=${text}`)),
  "the order in a query": (text) => queryFilter.parse(parseQuery(`sort=${text}`)),
  "a parameter of a query": (text) => formatParameter([...parseQuery(text).keys()][0] ?? "", text),
  "a Content-Type": (text) => parseBody(withHeader("content-type", text), Buffer.from("{}"), pack),
  "the parameters of a Content-Type": (text) =>
    parseBody(withHeader("content-type", `application/json;${text}`), Buffer.from("{}"), pack),
  "the body of a request": (text) => parseBody(request({}), Buffer.from(text), pack),
  "a form": (text) => parseForm(text, FORM_LIMITS),
  "the names of a form": (text) => parseForm(`a${text}=1&a[${text}]=2`, FORM_LIMITS),
  "the values of a form": (text) => readFormValues(parseForm(`a=${text}&b[]=${text}`, FORM_LIMITS)),
  "a form for the upstream, with a name above many values": (text) =>
    printForm(
      namedObject(
        text,
        Array.from({ length: text.length >> 3 }, () => 1),
      ),
      "brackets",
    ),
  "the errors of a body, with a name above many members": (text) =>
    checkMembers(namedObject(text, Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`m${n}`, 1])))),
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

/** Functions of the redaction, by the kind of text. */
const REDACTED: Readonly<Record<string, (text: string) => unknown>> = {
  "a header": (text) => redaction.text(text),
  "a query": (text) => redaction.query(text),
  "a body of text": (text) => redaction.raw(text),
  "a body of bytes": (text) => redaction.raw(Buffer.from(text, "latin1")),
  "a string of a body": (text) => redaction.value({ a: text }),
  "a key of a body": (text) => redaction.value({ [text]: text }),
  "JSON in a string": (text) => redaction.value({ a: JSON.stringify({ b: text }) }),
  "a response": (text) => redaction.json(Buffer.from(JSON.stringify({ a: text }))),
  "a cut body": (text) => redaction.raw(`{"a":"${text}`),
  "a name": names.has,
  "whether a name is at its end": names.endText,
  "whether it may have a name": names.maybeIn,
};

describe("functions that read clients' text take linear time", () => {
  test.each(Object.entries(READERS))("reading %s", (_name, read) => {
    expect(tooMuch((text) => outcome(() => read(text)))).toEqual([]);
  });
  test.each(Object.entries(REDACTED))("redacting %s", (_name, redact) => {
    expect(tooMuch((text) => outcome(() => redact(text)))).toEqual([]);
  });
});

/** The most bytes of a body that are recorded and searched. */
const BODY_LIMIT = 1 << 18;
const audit = new Redaction({ names: pack.secretNames, bodyLimit: BODY_LIMIT });
const HEAD = { path: "/v4/vm/instances", isRoute: true, query: "", texts: [] };
/** As long as all headers of a request, or as a body. */
const HEAD_LENGTH = 1 << 14;
const BODY_LENGTH = BODY_LIMIT - (1 << 12);

/** Finds the secrets of an exchange whose answer repeats the body of the request, and redacts both. */
function recordBodies(type: string, text: string): void {
  const body = { bytes: Buffer.from(text), type };
  const values = audit.search.find({ ...HEAD, body }, ["0123456789abcdef"]);
  audit.search.addFrom({ ...HEAD, body }, values);
  for (let n = 0; n < 2; n += 1)
    if (type.endsWith("json")) audit.json(body.bytes, values);
    else audit.body(body, values);
}
const recordJson = (value: unknown): void => recordBodies("application/json", JSON.stringify(value));

/** Parts of an exchange that are made of many short texts: how long they are together, and their whole redaction. */
const DENSE: Readonly<Record<string, readonly [length: number, record: (texts: readonly string[]) => void]>> =
  {
    "a query": [
      HEAD_LENGTH,
      (texts) => audit.query(texts.join(""), audit.search.find({ ...HEAD, query: texts.join("") })),
    ],
    "a path": [
      HEAD_LENGTH,
      (texts) =>
        audit.path(
          texts.join("/"),
          false,
          audit.search.find({ ...HEAD, path: texts.join("/"), isRoute: false }),
        ),
    ],
    "a header": [
      HEAD_LENGTH,
      (texts) => audit.text(texts.join(""), audit.search.find({ ...HEAD, texts: [texts.join("")] })),
    ],
    "a cookie": [
      HEAD_LENGTH,
      (texts) =>
        audit.text(texts.join(""), audit.search.find({ ...HEAD, headers: { cookie: texts.join(";") } })),
    ],
    "a form": [BODY_LENGTH, (texts) => recordBodies("application/x-www-form-urlencoded", texts.join("&"))],
    "a multipart form": [
      BODY_LENGTH,
      (texts) => recordBodies("multipart/form-data; boundary=x", texts.join("")),
    ],
    "the members of a form": [
      HEAD_LENGTH,
      (texts) => {
        const body = {
          bytes: Buffer.from("…"),
          form: texts.map((text, n) => [`${text}${n}`, text] as const),
        };
        audit.body(body, audit.search.find({ ...HEAD, body }));
      },
    ],
    "a text": [BODY_LENGTH, (texts) => recordBodies("text/plain", texts.join(""))],
    "cut JSON": [BODY_LENGTH, (texts) => recordBodies("text/plain", `{"a":"${texts.join("")}`)],
    "a string of JSON": [BODY_LENGTH, (texts) => recordJson({ a: texts.join("") })],
    "a string of JSON beside a secret": [
      BODY_LENGTH,
      (texts) => recordJson({ password: "token=ab", a: texts.join("") }),
    ],
    "JSON in a string": [BODY_LENGTH, (texts) => recordJson({ a: JSON.stringify({ a: texts.join("") }) })],
    "a list of JSON": [BODY_LENGTH / 4, (texts) => recordJson(texts)],
    "a list of longer texts": [
      BODY_LENGTH,
      (texts) =>
        recordJson(Array.from({ length: 200 }, (_, n) => texts.slice(n * 90, (n + 1) * 90).join(""))),
    ],
    "the name of a member": [BODY_LENGTH, (texts) => recordJson({ [texts.join("")]: "a" })],
    "the names of members": [
      BODY_LENGTH / 4,
      (texts) => recordJson(Object.fromEntries(texts.map((text, n) => [`${text}${n}`, "a"]))),
    ],
  };

/** Names and values of secrets, spelt in many ways. */
const SECRETS: readonly string[] = [
  "token=abcdef ",
  "token=abc# ",
  "password:\n",
  "password: abcdef ",
  "tok\u00e9n=abcdef ",
  "\u200btoken: a ",
  "token\t",
  "%74oken=a ",
  "\\u0074oken=a ",
  "//u:secret#@h ",
  "name=token;value=a#;",
  '{"token":"abc#"},',
];

/** Short texts with a number each. */
const manyTexts = (unit: string, length: number): readonly string[] =>
  Array.from({ length: Math.floor(length / (unit.length + 2)) }, (_, n) => unit.replace("#", String(n)));

describe("texts with many names and values of secrets take about as long as texts with one", () => {
  test.each(Object.entries(DENSE))(
    "in %s",
    (_name, [length, record]) => {
      const slow = SECRETS.filter((unit) => {
        const many = manyTexts(unit, length);
        const one = [unit, ...many.slice(1).map((text) => "x".repeat(text.length))];
        return !takesNoLonger(
          () => record(many),
          () => record(one),
        );
      });
      expect(slow).toEqual([]);
    },
    60_000,
  );
});

/** A regular expression literal. */
const LITERAL =
  /(?<=(?:[=(,:?&|!;{}[]|return|=>)\s*)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)(?![\w/])/g;

/** Every regular expression of the code, by its file. */
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
    expect(tooMuch((text) => text.replace(expression, ""))).toEqual([]);
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
    expect(isLinear(squared, letters, LENGTH)).toBe(false);
  });
});
