/** The parts of a request that can grow, and the shapes in which they grow. */
import { readExamples, splitCall, type Example } from "../../src/authoring/examples/example.ts";
import type { Diagnostic } from "../../src/base/files/diagnostic.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import type { Route } from "../../src/pack/routes/route.ts";
import type { FieldRule } from "../../src/pack/fields/field-definition.ts";
import type { Pack } from "../../src/pack/load/pack.ts";
import type { V4Response, Lists } from "./client-and-v4.ts";
import type { Request } from "./raw-request.ts";
import type { Pump } from "./text.ts";

/** One way for one part of a request to grow. */
export interface Candidate {
  /** The row of the page: a route, or a header. */
  readonly of: string;
  /** The part of the request. */
  readonly where: string;
  /** Parts with the same value are parsed alike: the first tries all shapes, the others only its worst shapes. */
  readonly like?: string;
  readonly pump: Pump;
  /** The request with a pump in that part. */
  readonly request: (pump: Pump) => Request;
  readonly responses: readonly V4Response[];
}

type Part = (pump: Pump) => Request;

/** Text that makes regular expressions backtrack, or is expensive to replace, escape or decode. */
export const UNITS: readonly string[] = [
  "a",
  " ",
  "\t",
  "\\",
  '"',
  "'",
  "%",
  "%25",
  "%41",
  ",",
  ", ",
  ";",
  "; ",
  "=",
  "a=",
  "a=&",
  "&",
  "#=1&",
  "=a;",
  ":",
  "a:",
  "[",
  "]",
  "[]",
  "{",
  "{}",
  "(",
  ")",
  "<",
  "<a>",
  "/",
  "a/",
  ".//",
  "../",
  "//",
  "-",
  "_",
  "-_",
  "a-",
  ".",
  "a.",
  "0",
  "9",
  "0.",
  "1e",
  "é",
  "\u200b",
  "Ａ",
  "password",
  "password-",
  "pass_",
  "code",
  "c_o-d_e",
  "root_pass ",
  "token ",
  "x=y ",
  "\\u0061",
  "\\\\u0061",
  '\\"',
  "a a",
  "aa!",
  "ssh-rsa ",
  "gzip,",
  "*/*;q=0,",
  "name=",
  '"a":',
  "http://a,",
  "::",
  "1.",
  "192.0.2.1,",
];

const FEW: readonly string[] = [
  "a",
  " ",
  "\\",
  '"',
  "%41",
  ",",
  "a=",
  ":",
  "[",
  "-",
  ".",
  "0",
  "é",
  "\u200b",
  "password",
  "ssh-rsa ",
];

const shortPumps = (): Pump[] => FEW.map((unit) => ({ before: "", unit, after: "!" }));

/** JSON values that are repeated in a list. */
const ITEMS: readonly string[] = [
  "{}",
  "[]",
  "0",
  '"a"',
  "null",
  "1.5e300",
  "12345678901234567890",
  '{"id":#}',
  '{"a#":1}',
  '"ssh-rsa AAAA#"',
  '"192.0.2.1"',
  '"a-#"',
  "[[]]",
  '{"id":null,"label":[]}',
];

/** Members that are repeated in an object. */
const MEMBERS: readonly string[] = [
  '"#":0',
  '"#":{}',
  '"a":0',
  '"__proto__":0',
  '"#-_":"a"',
  '"password#":1',
];

function valuePumps(): Pump[] {
  const listed = ITEMS.map((unit): Pump => ({ before: "[", unit: `${unit},`, after: "0]" }));
  const keyed = MEMBERS.map((unit): Pump => ({ before: "{", unit: `${unit},`, after: '"z":0}' }));
  const texts = ["a", " ", ",", "\\\\", "é", "\u200b", "ssh-rsa ", "\\u0000", "\\n"].map((unit): Pump => ({
    before: '"',
    unit,
    after: '"',
  }));
  return [
    ...listed,
    ...keyed,
    ...texts,
    { before: "", unit: "1", after: "" },
    { before: "0.", unit: "0", after: "1" },
    { before: "1e", unit: "1", after: "" },
    { before: "", unit: "[", after: "" },
    { before: "", unit: '{"a":', after: "" },
    { before: "", unit: " ", after: "0" },
    { before: '"{', unit: '\\"#\\":0,', after: '\\"z\\":0}"' },
    { before: '"[', unit: "[],", after: '0]"' },
  ];
}

const textPumps = (): Pump[] =>
  [...UNITS, "a#=b#;"].flatMap((unit): Pump[] => [
    { before: "", unit, after: "!" },
    { before: 'a: "', unit, after: '"=b' },
  ]);

/** A part whose text the gateway only passes on. */
const fewTextPumps = (): Pump[] => [
  ...shortPumps(),
  { before: 'a: "', unit: "\\", after: '"=b' },
  { before: 'a: "', unit: "a", after: '"=b' },
];

const filterPumps = (): Pump[] => [
  ...shortPumps(),
  ...['"label":"a",', '"#":1,', '"id":{"+gt":#},'].map((unit): Pump => ({
    before: "{",
    unit,
    after: '"id":1}',
  })),
  ...[
    '{"label":"#"},',
    '{"id":{"+gte":#}},',
    '{"datacenter":"newark"},',
    "{},",
    '{"+and":[]},',
    '{"created":{"+gt":"2016-01-01"}},',
  ].map((unit): Pump => ({ before: '{"+or":[', unit, after: '{"id":1}]}' })),
  { before: "", unit: '{"+or":[', after: "" },
  { before: '{"label":{"+contains":"', unit: "a", after: '"}}' },
  { before: '{"label":"', unit: "\\u0061", after: '"}' },
  { before: '{"label":"', unit: "é", after: '"}' },
  { before: '{"label":', unit: "1", after: "}" },
  { before: '{"#":', unit: '{"a":', after: "" },
];

const encoded = (pumps: readonly Pump[]): Pump[] =>
  pumps.map(({ before, unit, after }) => ({
    before,
    unit: encodeURI(unit).replaceAll("%23", "#"),
    after: encodeURI(after),
  }));

const AUTHORIZED: Request["headers"] = [["Authorization", "token good"]];
const JSON_TYPE = ["Content-Type", "application/json"] as const;

const SAMPLES: Readonly<Record<string, string>> = {
  integer: "7",
  text: "someone",
  path: "vm/debian8",
  ip: "192.0.2.1",
  ip4: "192.0.2.1",
  ip6: "2001:db8::1",
};

interface Hole {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** The part of a rule that decides how a value is checked and translated. The catalog makes no difference. */
const ruleText = ({ values, object, catalog, format, write, accepts }: FieldRule): string =>
  JSON.stringify({
    values,
    isObject: object !== undefined,
    isInCatalog: catalog !== undefined,
    format,
    // Expressions that differ in names and numbers only cost the same.
    write: write?.replaceAll(/"[^"]*"|\bsd[a-h]\b|\d+/g, "…"),
    accepts,
  });

/**
 * The positions that are checked and translated differently: the first position of each rule, and the first without a
 * rule. Positions within a list or an object have the rule of that.
 */
function unlikeHoles(route: Route, body: unknown): { readonly hole: Hole; readonly like: string }[] {
  const rules = new Map((route.body?.members ?? []).map(({ name, rule }) => [name, ruleText(rule)]));
  const found = new Map<string, { readonly hole: Hole; readonly like: string }>();
  for (const hole of holes(body)) {
    const path = hole.name.split(".");
    const ruled = path.findLastIndex((_, index) => rules.has(path.slice(0, index + 1).join(".")));
    const rule = rules.get(path.slice(0, ruled + 1).join("."));
    const like =
      hole.name === "" ? "body" : `body ${rule ?? ""} ${rule === undefined ? "" : path.length - ruled}`;
    if (!found.has(like)) found.set(like, { hole, like });
  }
  return [...found.values()];
}

/** Every position of a JSON value that can hold another value, as the text before and after it. */
function holes(value: unknown, name = "", before = "", after = ""): Hole[] {
  const place = { name, before, after };
  if (value === null || typeof value !== "object") return [place];
  const [open, close, isList] = Array.isArray(value) ? ["[", "]", true] : ["{", "}", false];
  const members = Object.entries(value).map(([key, inner]) => ({
    key,
    inner: inner as unknown,
    head: isList ? "" : `${JSON.stringify(key)}:`,
  }));
  const inner = members.flatMap((member, index) => {
    const others = members
      .filter((_, at) => at !== index)
      .map(({ head, inner }) => head + JSON.stringify(inner));
    const start = before + open + [...others, member.head].join(",");
    return holes(member.inner, name === "" ? member.key : `${name}.${member.key}`, start, close + after);
  });
  return [place, ...inner];
}

interface Seed {
  readonly path: string;
  readonly body: unknown;
  readonly headers: Request["headers"];
  readonly responses: readonly V4Response[];
}

/** The largest successful example of a route. */
function seedOf(route: Route, pack: Pack, examples: readonly Example[]): Seed {
  const { base_path: prefix } = pack.dialect.upstream;
  const fits = examples.flatMap(({ definition }) => {
    const { method, path } = splitCall(definition.request, pack.dialect.client.base_path);
    const [plain = ""] = path.split("?");
    const match = pack.match(method, plain.split("/").slice(2).map(decodeURIComponent));
    return match?.routes.some(({ name }) => name === route.name) && definition.response.status === 200
      ? [{ definition, path }]
      : [];
  });
  const size = (body: unknown): number => JSON.stringify(body ?? "").length;
  const [best] = fits.sort((one, other) => size(other.definition.body) - size(one.definition.body));
  const sample = route.name
    .split(" ")[1]
    ?.replaceAll(/:(\w+)/g, (_, name: string) => SAMPLES[route.pathParameters[name]?.type ?? ""] ?? "7");
  return {
    path: best?.path.split("?")[0] ?? `${pack.dialect.client.base_path}${sample}`,
    body: best?.definition.body,
    headers: best?.definition.file === undefined ? [JSON_TYPE] : [["Content-Type", best.definition.file]],
    responses: (best?.definition.upstream ?? []).map(({ request, response: { status, body } }) => ({
      ...splitCall(request, prefix),
      status,
      body,
    })),
  };
}

/** A body with all members that a route takes. */
function wholeBody(route: Route, { body }: Pick<Seed, "body">): Record<string, unknown> {
  const whole = structuredClone((body ?? {}) as Record<string, unknown>);
  for (const { name } of route.body?.members ?? []) {
    let holder = whole;
    const keys = name.split(".");
    for (const key of keys.slice(0, -1)) {
      const inner = holder[key];
      if (inner !== undefined && (inner === null || typeof inner !== "object")) break;
      holder = (holder[key] ??= {}) as Record<string, unknown>;
    }
    holder[keys.at(-1) ?? ""] ??= null;
  }
  return { ...whole, "made-up": null };
}

/** A member of a body that a route takes, in a request that succeeds. */
export interface BodyPlace {
  readonly route: string;
  readonly member: string;
  /** @param json the value of the member, as text */
  readonly request: (json: string) => {
    readonly method: string;
    readonly target: string;
    readonly body: string;
  };
  readonly responses: readonly V4Response[];
}

/** The members of all bodies. @param folder of the pack. */
export function bodyPlaces(folder: string): BodyPlace[] {
  const pack = loadPack(folder);
  const { examples } = readExamples(folder, []);
  return pack.routes
    .filter(({ name, upload }) => !upload && !/^(?:GET|DELETE) /.test(name))
    .flatMap((route) => {
      const { path: target, responses, ...seed } = seedOf(route, pack, examples);
      const [method = ""] = route.name.split(" ");
      return holes(wholeBody(route, seed)).map(({ name, before, after }) => ({
        route: route.name,
        member: name,
        request: (json: string) => ({
          method,
          target,
          body: before + json + after,
        }),
        responses,
      }));
    });
}

function ofRoute(route: Route, pack: Pack, seed: Seed): Candidate[] {
  const [method = ""] = route.name.split(" ");
  const { path, responses } = seed;
  const headers = [...AUTHORIZED, ...seed.headers];
  const sent = seed.body === undefined ? undefined : JSON.stringify(seed.body);
  const of = route.name;
  const make = (where: string, pumps: readonly Pump[], request: Part, like = where): Candidate[] =>
    pumps.map((pump) => ({ of, where, like, pump, request, responses }));
  const found: Candidate[] = [];
  const base = { method, target: path, headers, ...(sent !== undefined && { body: sent }) };
  if (route.upload) {
    found.push(...make("file", textPumps(), (body) => ({ ...base, body })));
  } else if (method !== "GET" && method !== "DELETE") {
    const values = valuePumps();
    for (const { hole, like } of unlikeHoles(route, wholeBody(route, seed))) {
      const { name, before, after } = hole;
      const part: Part = (pump) => ({
        ...base,
        body: { before: before + pump.before, unit: pump.unit, after: pump.after + after },
      });
      found.push(...make(`body ${name}`.trim(), values, part, like));
    }
  }
  const segments = path.split("/");
  const varying = [
    segments.length - 1,
    ...(/:/.test(route.name) ? [segments.findIndex((each) => /\d/.test(each))] : []),
  ];
  for (const at of new Set(varying.filter((each) => each > 2)))
    found.push(
      ...make(
        `path segment ${at}`,
        encoded(shortPumps()),
        (pump) => ({
          ...base,
          target: {
            before: `${segments.slice(0, at).join("/")}/${pump.before}`,
            unit: pump.unit,
            after: [pump.after, ...segments.slice(at + 1)].join("/"),
          },
        }),
        "path segment",
      ),
    );
  found.push(
    ...make("query", encoded(shortPumps()), (pump) => ({
      ...base,
      target: { ...pump, before: `${path}?page=${pump.before}` },
    })),
  );
  if (method === "GET")
    found.push(
      ...make(pack.dialect.client.filters?.header ?? "", filterPumps(), (pump) => ({
        ...base,
        headers: [...headers, [pack.dialect.client.filters?.header ?? "", pump]],
      })),
    );
  return found;
}

export const HEADERS = [
  "User-Agent",
  "X-Request-Id",
  "traceparent",
  "tracestate",
  "X-Forwarded-For",
  "Forwarded",
  "X-Real-IP",
  "X-Forwarded-Host",
  "X-Forwarded-Proto",
  "Content-Type",
  "Content-Encoding",
  "Transfer-Encoding",
  "Expect",
  "Origin",
  "Cookie",
  "Accept",
  "Accept-Encoding",
  "Connection",
  "TE",
  "Range",
  "If-None-Match",
  "X-CORS-Status",
  "X-HTTP-Method-Override",
  "X-Original-URL",
  "Access-Control-Request-Headers",
  "Access-Control-Request-Method",
  "Referer",
  "X-Anything",
];

/** Requests that headers are put into. */
function heads(): (readonly [string, Request])[] {
  return [
    ["", { method: "GET", target: "/v4/vm/instances", headers: AUTHORIZED }],
    [" (POST)", { method: "POST", target: "/v4/vm/instances", headers: AUTHORIZED, body: '{"label":"a"}' }],
    [" (no such route)", { method: "GET", target: "/v4/nowhere", headers: [] }],
    [" (native)", { method: "GET", target: "/v4/vm/instances", headers: [["Authorization", "Bearer good"]] }],
    [
      " (preflight)",
      {
        method: "OPTIONS",
        target: "/v4/vm/instances",
        headers: [
          ["Origin", "https://a.example"],
          ["Access-Control-Request-Method", "GET"],
        ],
      },
    ],
    [
      " (form)",
      { method: "POST", target: "/oauth/token", headers: [], body: "client_id=a&client_secret=b&code=c" },
    ],
    [" (admin)", { method: "GET", target: "/api/audit", headers: [], admin: true }],
  ];
}

/** Headers that the gateway reads itself. All others it only passes on, or drops. */
const READ_HEADERS = new Set([
  "User-Agent",
  "X-Request-Id",
  "traceparent",
  "X-Forwarded-For",
  "Content-Type",
  "Content-Encoding",
  "Expect",
  "Origin",
  "Connection",
  "X-CORS-Status",
  "Access-Control-Request-Headers",
]);

const HEADER_LINES = [
  "a#: b\r\n",
  "#: \r\n",
  "a: b\r\n",
  "Cookie: a=b\r\n",
  "X-Filter: {}\r\n",
  "X-Forwarded-For: 1\r\n",
  "User-Agent: a\r\n",
  "__proto__: a\r\n",
];

function ofHeaders(pack: Pack): Candidate[] {
  const found: Candidate[] = [];
  for (const [kind, request] of heads()) {
    // Other kinds of requests read the same headers, so a few shapes are enough for them.
    const isFirst = kind === "";
    const pumps = isFirst ? textPumps() : fewTextPumps();
    const make = (name: string, like: string, shapes: readonly Pump[], part: Part): void => {
      const of = request.admin ? "all headers (admin)" : name;
      for (const pump of shapes)
        found.push({
          of,
          where: `header${request.admin ? ` ${name}` : kind}`,
          like: `${like}${kind}`,
          pump,
          request: part,
          responses: [],
        });
    };
    const names = [...HEADERS, pack.dialect.client.filters?.header ?? ""];
    // A header that is not read comes first: it tries all shapes for the others.
    const read = names.filter(
      (name) => READ_HEADERS.has(name) || name === pack.dialect.client.filters?.header,
    );
    const others = names.filter((name) => !read.includes(name));
    for (const name of isFirst ? [...others, ...read] : read)
      make(name, read.includes(name) && isFirst ? name : "any header", pumps, (pump) => ({
        ...request,
        headers: [...request.headers, [name, pump]],
      }));
    make(
      "Authorization",
      "Authorization",
      pumps.flatMap((pump) => [
        pump,
        { ...pump, before: `token ${pump.before}` },
        { ...pump, before: `Bearer ${pump.before}` },
      ]),
      (pump) => ({ ...request, headers: [["Authorization", pump]] }),
    );
    make(
      "names of headers",
      "names of headers",
      HEADER_LINES.map((unit) => ({ before: "", unit, after: "" })),
      (pump) => ({ ...request, lines: pump }),
    );
    make(
      "request target",
      "request target",
      encoded(pumps).flatMap((pump) => [
        { ...pump, before: `/${pump.before}` },
        { ...pump, before: `/v4/${pump.before}` },
        { ...pump, before: `http://a/${pump.before}` },
      ]),
      (pump) => ({ ...request, target: pump }),
    );
  }
  return found;
}

const MULTIPART = ["Content-Type", "multipart/form-data; boundary=x"] as const;
const URLENCODED = ["Content-Type", "application/x-www-form-urlencoded"] as const;

function ofForms(): Candidate[] {
  const found: Candidate[] = [];
  const urlencoded = encoded([
    ...textPumps(),
    { before: "client_id=", unit: "a", after: "" },
    { before: "", unit: "a#=1&", after: "" },
  ]);
  const part = (name: string, text: string): string =>
    `--x\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${text}\r\n`;
  const multipart: Pump[] = [
    ...UNITS.map((unit) => ({
      before: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
      unit,
      after: "\r\n--x--\r\n",
    })),
    ...UNITS.map((unit) => ({
      before: '--x\r\nContent-Disposition: form-data; name="',
      unit: unit.replaceAll('"', "%22"),
      after: '"\r\n\r\nb\r\n--x--\r\n',
    })),
    ...UNITS.map((unit) => ({
      before: "--x\r\nContent-Disposition: ",
      unit,
      after: '; name="a"\r\n\r\nb\r\n--x--\r\n',
    })),
    { before: "", unit: part('"a#"', "b"), after: "--x--\r\n" },
    { before: "", unit: part('"a"', "b"), after: "--x--\r\n" },
    { before: "", unit: part("client_secret", "b"), after: "--x--\r\n" },
    { before: "", unit: "--x\r\n", after: "--x--\r\n" },
    { before: "--x\r\n", unit: "a#: b\r\n", after: "\r\n\r\n--x--\r\n" },
    { before: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n', unit: "\r\n", after: "--x--\r\n" },
    {
      before: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
      unit: "\r\n-",
      after: "\r\n--x--\r\n",
    },
  ];
  for (const target of ["/oauth/token", "/oauth/token/expire"]) {
    for (const [where, headers, pumps] of [
      ["urlencoded form", [URLENCODED], urlencoded],
      ["multipart form", [MULTIPART], multipart],
    ] as const)
      for (const pump of pumps)
        found.push({
          of: `POST ${target}`,
          where,
          like: where,
          pump,
          responses: [],
          request: (body) => ({ method: "POST", target, headers, body }),
        });
  }
  for (const name of ["client_id", "scopes", "redirect_uri", "state", "other"])
    for (const pump of encoded([
      ...textPumps(),
      { before: "", unit: "vms:view,", after: "" },
      { before: "", unit: "a#:b,", after: "" },
      { before: "", unit: "&scopes=vms:view", after: "" },
    ]))
      found.push({
        of: "GET /oauth/authorize",
        where: `query ${name}`,
        like: name === "client_id" || name === "scopes" ? `authorize ${name}` : "authorize",
        pump,
        responses: [],
        request: (grown) => ({
          method: "GET",
          target: { ...grown, before: `/oauth/authorize?client_id=x&${name}=${grown.before}` },
          headers: [],
        }),
      });
  return found;
}

const ADMIN: Request["headers"] = [["Authorization", "Bearer 0123456789abcdef0123456789abcdef"]];

function ofAdmin(): Candidate[] {
  const found: Candidate[] = [];
  for (const [path, names] of [
    ["/api/audit", ["limit", "before", "client", "route", "status", "since", "until", "other"]],
    ["/api/audit/export", ["format", "before", "route"]],
    ["/api/report", ["since", "client"]],
    ["/api/usage/clients", ["since", "client"]],
  ] as const)
    for (const name of names)
      for (const pump of encoded([
        ...fewTextPumps(),
        { before: "", unit: `&${name}=1`, after: "" },
        { before: "", unit: "&a#=b", after: "" },
        { before: "", unit: "&a[#]=b", after: "" },
      ]))
        found.push({
          of: `GET ${path} (admin)`,
          where: `query ${name}`,
          like: "admin query",
          pump,
          responses: [],
          request: (grown) => ({
            method: "GET",
            target: { ...grown, before: `${path}?${name}=${grown.before}` },
            headers: ADMIN,
            admin: true,
          }),
        });
  for (const pump of [...encoded(textPumps()), { before: "token=", unit: "a", after: "" }])
    found.push({
      of: "POST /login (admin)",
      where: "form",
      pump,
      responses: [],
      request: (body) => ({ method: "POST", target: "/login", headers: [URLENCODED], body, admin: true }),
    });
  return found;
}

function ofNative(): Candidate[] {
  const headers: Request["headers"] = [["Authorization", "Bearer good"], JSON_TYPE];
  return [...fewTextPumps(), { before: "[", unit: "{},", after: "0]" }].map((pump) => ({
    of: "native proxy",
    where: "body",
    pump,
    responses: [],
    request: (body) => ({ method: "POST", target: "/v4/anything", headers, body }),
  }));
}

export interface Places {
  readonly candidates: readonly Candidate[];
  readonly lists: Lists;
}

/** All that can grow. @param folder of the pack. */
export function places(folder: string): Places {
  const pack = loadPack(folder);
  const faults: Diagnostic[] = [];
  const { examples, catalogs } = readExamples(folder, faults);
  const { base_path: prefix } = pack.dialect.upstream;
  const lists = Object.fromEntries(
    Object.entries(catalogs).map(([call, rows]) => [splitCall(call, prefix).path, rows]),
  );
  return {
    lists,
    candidates: [
      ...ofHeaders(pack),
      ...ofForms(),
      ...ofAdmin(),
      ...ofNative(),
      ...pack.routes.flatMap((route) => ofRoute(route, pack, seedOf(route, pack, examples))),
    ],
  };
}
