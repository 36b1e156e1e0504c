import { describe, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { sendToLibrary } from "./library-gateway.ts";
import { faultsOf, withPack, type Edit } from "./pack-folder.ts";

const book = (from: string, to: string): Edit => ({ file: "book.yaml", from, to });
const dialect = (from: string, to: string): Edit => ({ file: "pack.yaml", from, to });

const diagnosticsOf = (edit: Edit): string[] =>
  faultsOf(edit).map(({ file, line, message }) => `${file}:${line}: ${message}`);

describe("check reports a value that can never work", () => {
  test.each([
    ["a status of 50000", dialect("default: 500", "default: 50000"), "45: must be at most 599"],
    ["a status of 7", dialect("429: 503", "429: 7"), "45: must be at least 200"],
    ["a header with a space", dialect("X-Where", "X Where"), "14: is not the name of a header"],
    ["another header with a space", dialect("X-True-Status", "X True"), "30: is not the name of a header"],
    ["a scheme with a space", dialect("scheme: Token", "scheme: My Token"), "35: is not a scheme"],
    [
      "credentials in two places",
      dialect("{ scheme: Token }", "{ scheme: Token, header: X-Key }"),
      "35: a token is in one place, not in scheme and header",
    ],
    [
      "a table that does not exist",
      book("  number: id", "  number: { upstream: id, read: '$values(\"statee\", $value)' }"),
      '6: unknown value kind "statee"; did you mean "state"?',
    ],
    [
      "a further place of credentials that is none",
      dialect("{ scheme: key }", "{ scheme: key, or: [{}] }"),
      "the place of the token is missing; one of scheme, basic, header, query, cookie",
    ],
    [
      "a place of credentials that is there twice",
      dialect("{ scheme: key }", "{ scheme: key, or: [{ header: X-Key }, { scheme: KEY }] }"),
      "this place is there twice",
    ],
    [
      "two parameters with credentials",
      dialect("{ scheme: key }", "{ scheme: key, or: [{ query: a }, { query: b }] }"),
      "a token is in one parameter of the query at most",
    ],
    [
      "credentials in no place",
      dialect("{ scheme: Token }", "{ token: table }"),
      "35: the place of the token is missing; one of scheme, basic, header, query, cookie",
    ],
    [
      "a body without members of a route that reads the object if nothing is sent",
      {
        file: "tray.yaml",
        from: "routes:",
        to: "  empty: {}\n\nroutes:\n  - { client: PUT /trays/:number/empty, scope: books:write, upstream: 'PUT /crates/{number}', body: empty, read_route: GET /trays/:number }",
      },
      "the route would always respond with the current object",
    ],
    [
      "unknown values of a kind without a table",
      dialect("values:\n", "values:\n  size: { read: $value + 1, unknown: reject }\n"),
      '"unknown" needs a table of the client\'s values',
    ],
    [
      "a version of a call that the route does not have",
      {
        file: "tray.yaml",
        from: "    calls: [tray]",
        to: "    calls: [tray]\n    if_match: crate",
      },
      'the route has no call "crate" before the main call; calls: [{ name: crate, at: before, upstream: "GET /path" }]',
    ],
    [
      "a version of the object, where the client's own is not among the headers that pass",
      {
        file: "tray.yaml",
        from: "    calls: [tray]",
        to: "    calls: [tray]\n    if_match: tray",
      },
      'the If-Match of clients is ignored: add it to "headers.request" of the route, or of "client"; headers: { request: { If-Match: If-Match } }',
    ],
    [
      "a GET that is said to be safe",
      book("upstream: GET /items/{number}", "safe: true\n    upstream: GET /items/{number}"),
      '"safe" is for a POST on one of both sides, without a file: a GET with only GETs always is, and no other method can be',
    ],
    [
      "a field that is not found by a call that changes something",
      dialect("GET /people/{writer}", "POST /people/{writer}"),
      '"not_found_field" needs a call that is a GET',
    ],
    [
      "a version for a call that changes nothing",
      book("calls: [{ name: loan", "if_match: tray\n    calls: [tray, { name: loan"),
      '"if_match" needs a call that changes something: this one is a GET',
    ],
    [
      "a challenge without an authentication scheme",
      dialect("{ scheme: key }", "{ header: X-Key, realm: library }"),
      'a challenge needs an authentication scheme: "scheme" or "basic"',
    ],
    [
      "a realm with a quotation mark",
      dialect("{ scheme: key }", "{ scheme: key, realm: 'a\"b' }"),
      "is not a realm",
    ],
    [
      "a token in a header that frames messages",
      dialect("{ scheme: Token }", "{ header: Content-Length }"),
      "35: is a header that frames messages",
    ],
    [
      "the catalog of another file",
      { file: "shelf.yaml", from: "catalog: true", to: "catalog: book" },
      'shelf.yaml:15: a route has the catalog of its own file, "shelf"; catalog: true',
    ],
    [
      "a header of responses without a value",
      dialect("id: code", "headers: { response: { X-A: { on: always } } }\n  id: code"),
      'a header needs "upstream", "read" or "const"; X-A: X-A',
    ],
    [
      "a header of responses with two values",
      dialect("id: code", "headers: { response: { X-A: { const: a, read: name } } }\n  id: code"),
      '"const" is the value of all responses: it excludes "upstream" and "read"',
    ],
    [
      "a header with an unknown variable",
      dialect("id: code", "headers: { response: { X-A: { read: $reponse } } }\n  id: code"),
      "$reponse",
    ],
    [
      "an absolute link in a header that has no address",
      dialect("id: code", "headers: { response: { X-A: { upstream: X-A, links: absolute } } }\n  id: code"),
      '"links" is about addresses: Location and Content-Location',
    ],
    [
      "a value of a request in two places",
      dialect("id: code", "headers: { request: { X-A: { query: a, member: b } } }\n  id: code"),
      'a value has one place: "upstream", "query", "member" or "path"; remove all but one',
    ],
    [
      "a value of the path that may be missing",
      dialect("id: code", "headers: { request: { X-A: { path: a } } }\n  id: code"),
      'a value in a path needs "required: true" or a "default"',
    ],
    [
      "a header for a path that does not have its name",
      {
        file: "shelf.yaml",
        from: "response: list",
        to: "response: list, headers: { request: { X-A: { path: a, default: b } } }",
      },
      'has no effect: no path of "upstream" has {a}',
    ],
    [
      "values of names that no path has",
      { file: "shelf.yaml", from: "response: list", to: "response: list, values: { a: $path.number }" },
      '"a" has no effect: no path has {a}',
    ],
    [
      "a relation of pages that does not exist",
      dialect(
        "pagination: { page: { parameter: page }, size: 10 }",
        "pagination: { page: { parameter: page }, size: 10, link_header: [after] }",
      ),
      "12: ",
    ],
    [
      "an entity tag of the pack that nothing compares with If-Match",
      {
        file: "book.yaml",
        from: "upstream: POST /items, body",
        to: "headers: { request: { If-Match: If-Match }, response: { ETag: { read: id } } }, upstream: POST /items, body",
      },
      "clients may send If-Match, and nothing compares it with the ETag that the pack makes; add a call before the main call that reads the object, and name it in if_match",
    ],
    [
      "an envelope without its items",
      book(
        "fields:",
        "envelope: { upstream: { list: { data: 1, page: $page, last_page: $pages, total: $total } } }\nfields:",
      ),
      '"$items" is missing; it stands where the array is, such as { data: $items }',
    ],
    [
      "an unknown value of an envelope",
      book("fields:", "envelope: { client: { object: { book: $objects } } }\nfields:"),
      'unknown name "$objects"; did you mean "$object"?',
    ],
    [
      "a key of a list that has no value",
      dialect("list: { $list: $items,", "list: { $name: $items,"),
      '"$name" can\'t be a key here; a key with a value is $list',
    ],
    [
      "a key of a wrapper that has no value",
      book("fields:", "envelope: { client: { object: { $list: $object } } }\nfields:"),
      '"$list" can\'t be a key here; a key with a value is $name',
    ],
    [
      "an unknown value of a route's own error",
      book("response: list", "response: list, envelope: { client: { error: { text: $mesage } } }"),
      'unknown name "$mesage"; did you mean "$message"?',
    ],
    [
      "a value within a value of an error",
      book("response: list", "response: list, envelope: { client: { error: { code: $codes.x } } }"),
      'unknown name "$codes.x"',
    ],
    [
      "an error with a path parameter that its route does not have",
      book("response: list", "response: list, envelope: { client: { error: { no: $path.none } } }"),
      'unknown name "$path.none"',
    ],
    [
      "an error of the upstream with a value of the client's request",
      book("fields:", "envelope: { upstream: { error: { text: $message, by: $method } } }\nfields:"),
      'unknown name "$method"',
    ],
    [
      "an error of a resource's upstream that says nothing",
      book("fields:", "envelope: { upstream: { error: { number: $status } } }\nfields:"),
      "nothing of this error says what the problem is; a value is one of $message, $title, $code, $field, $pointer",
    ],
    [
      "a name for no field of a route whose errors have no field",
      book(
        "response: list",
        "response: list, envelope: { client: { error: { a: $message }, no_field: base } }",
      ),
      '"no_field" has no effect: errors have no $field',
    ],
    [
      "a failure of a call that says nothing",
      book("calls: [{ name: loan", "calls: [{ failure: {}, name: loan"),
      "needs a status or a code",
    ],
    [
      "a failure of checks on a route without one",
      book("response: list", "response: list, failures: { checks: { status: 409 } }"),
      '"checks" has no effect: the route has no check; checks are keys of a body and of a call',
    ],
    [
      "a failure that says nothing",
      book("response: list", "response: list, failures: { checks: {} }"),
      "needs a status or a code",
    ],
    [
      "a failure with a status of success",
      book("response: list", "response: list, failures: { checks: { status: 200 } }"),
      "400",
    ],
    [
      "a code of a failure that errors have no place for",
      book(
        "    set: { origin: gateway }",
        '    checks: [{ field: title, message: \'title = "a" ? "b"\', code: conflict }]\n    set: { origin: gateway }',
      ),
      '"code" has no effect: the errors of clients have no $code ("responses.error")',
    ],
    [
      "a member of a route that its objects do not have",
      book("response: list", "response: list, sparse_fields: { parameter: only, always: [nmae] }"),
      'objects of this route have no field "nmae"',
    ],
    [
      "no choice of members where clients have none",
      book("response: list", "response: list, sparse_fields: none"),
      '"none" has no effect: clients choose no members ("client.sparse_fields")',
    ],
    [
      "a choice of members of a route without objects",
      book("response: none", "response: none, sparse_fields: { parameter: only }"),
      '"sparse_fields" has no effect: the route responds with no object and no list',
    ],
    [
      "a parameter that chooses members and is one of the query",
      book(
        "response: list",
        "response: list, sparse_fields: { parameter: lang }, query: { parameters: { lang: locale } }",
      ),
      '"lang" chooses members: see "sparse_fields"',
    ],
    [
      "upstream pages of a route that is served from the catalog",
      {
        file: "shelf.yaml",
        from: "catalog: true, response: list",
        to: "catalog: true, response: list, pagination: { upstream: none }",
      },
      '"upstream" has no effect: the response comes from the catalog; the lists of "catalog" have a "pagination" of their own',
    ],
    [
      "an upstream envelope of a route that is served from the catalog",
      {
        file: "shelf.yaml",
        from: "catalog: true, response: list",
        to: "catalog: true, response: list, envelope: { upstream: { item: { row: $object } } }",
      },
      '"upstream" has no effect: the response comes from the catalog; write it in "envelope" of the resource',
    ],
    [
      "an envelope of a route that responds with something else",
      book("response: list", "response: list, envelope: { client: { object: { book: $object } } }"),
      '"object" has no effect: the route has "response: list"',
    ],
    [
      "an envelope of a route with a value that the upstream does not have",
      book(
        "response: list",
        "response: list, envelope: { client: { list: { all: $items, found: $total } }, upstream: { list: $items } }",
      ),
      '"$total" has no value: lists of new library have no total',
    ],
    [
      "a key of errors that has no value",
      dialect("{ problems: [{ at: $field, text: $message }] }", "{ $message: [$field] }"),
      '"$message" can\'t be a key of an error; keys of values are $field, $pointer, $code, $name',
    ],
    [
      "a misspelled key of errors",
      dialect("{ problems: [{ at: $field, text: $message }] }", "{ $feild: [$message] }"),
      '"$feild" can\'t be a key of an error',
    ],
    [
      "a shape of some errors that is for all",
      dialect(
        "    error: { problems",
        "    error_shapes: [{ shape: { a: $message } }]\n    error: { problems",
      ),
      'this shape is for all errors, so that those after it and `error` have no effect; add "status", "code" or "fields", or make it "error"',
    ],
    [
      "a shape of some errors with an unknown value",
      dialect(
        "    error: { problems",
        "    error_shapes: [{ status: 422, shape: { a: $mesage } }]\n    error: { problems",
      ),
      '28: unknown name "$mesage"; did you mean "$message"?',
    ],
    [
      "a shape for a status that is no error",
      dialect(
        "    error: { problems",
        "    error_shapes: [{ status: 200, shape: { a: $message } }]\n    error: { problems",
      ),
      "28: ",
    ],
    [
      "a name for no field where errors have no fields",
      dialect("{ problems: [{ at: $field, text: $message }] }", "{ text: $message }\n    no_field: base"),
      '"no_field" has no effect: errors have no $field',
    ],
    [
      "indexes of fields where errors have no fields",
      dialect(
        "{ problems: [{ at: $field, text: $message }] }",
        "{ text: $message }\n    field_indexes: dots",
      ),
      '"field_indexes" has no effect: errors have no $field',
    ],
    [
      "an error of the upstream that says nothing",
      {
        file: "pack.yaml",
        from: "total: $total }\n    error: { problems: [{ at: $field, text: $message }] }",
        to: "total: $total }\n    error: { failed: $status }",
      },
      "nothing of this error says what the problem is; a value is one of $message, $title, $code, $field, $pointer",
    ],
    [
      "codes of invalid queries that errors have no place for",
      dialect("errors:\n", "errors:\n  validation: { query: { codes: { required: missing } } }\n"),
      '"codes" has no effect: the errors of clients have no $code',
    ],
    [
      "a field of errors that the object does not have",
      book("fields:", "error_fields: { price: cost }\nfields:"),
      '"cost" is no field or input of this object',
    ],
    [
      "codes of rules that errors have no place for",
      dialect("errors:\n", "errors:\n  validation: { codes: { required: missing } }\n"),
      '"codes" has no effect: the errors of clients have no $code',
    ],
    [
      "a text of invalid requests that would replace their reasons",
      dialect("errors:\n", "errors:\n  validation: { message: Invalid }\n"),
      '"message" needs $message beside an array with the problems',
    ],
    [
      "a status without a body on a route with one",
      book("upstream: POST /items, body", "upstream: POST /items, status: 204, body"),
      '"response: none"',
    ],
    [
      "a header of methods that means something else",
      dialect("  id: code", "  method_header: x-where\n  id: code"),
      'this header has another meaning: see "filters"',
    ],
    [
      "an expression of a parameter that becomes several",
      dialect(
        "  id: code",
        "  query: { parameters: { a: { upstream: { b: $value, c: $value }, write: $value } } }\n  id: code",
      ),
      '"write" has no effect: each name in "upstream" has its own expression',
    ],
    [
      "an expression of an input that is not sent",
      book("writer: { upstream: author_id }", "writer: { send: false, write: $value }"),
      '"write" has no effect: "send: false" says that nothing is sent',
    ],
    [
      "an object of a catalog that depends on a request",
      { file: "shelf.yaml", from: "fields:\n", to: "fields:\n  lang: { read: '$query.lang' }\n" },
      "a catalog has no request: its objects are translated once for all requests",
    ],
    [
      "a member that is always there and that no object has",
      dialect("  id: code", "  sparse_fields: { parameter: fields, always: [nonsense] }\n  id: code"),
      'no object has the field "nonsense"',
    ],
    [
      "a header that has the token",
      dialect("id: code", "headers: { request: { Authorization: X-Other } }\n  id: code"),
      'this header has the token: see "credentials"',
    ],
    [
      "items inside of an array",
      dialect("list: { rows: $items,", "list: { rows: [$items],"),
      '"$items" is inside of an array; remove the brackets',
    ],
    [
      "items in two places",
      dialect("list: { rows: $items,", "list: { rows: $items, all: $items,"),
      '"$items" is there 2 times',
    ],
    [
      "a header name with a blank",
      dialect("id: code", 'headers: { request: { "X Bad": X-Good } }\n  id: code'),
      '"X Bad" is not the name of a header: letters, digits and hyphens',
    ],
    [
      "a header that has the rate limit already",
      dialect(
        "id: code",
        "rate_limit_headers: { reset: X-End }\n  headers: { response: { x-end: X-End } }\n  id: code",
      ),
      'this header has the gateway\'s rate limit: see "rate_limit_headers"',
    ],
    [
      "a rate limit in no header",
      dialect("id: code", "rate_limit_headers: {}\n  id: code"),
      "no header is named; limit: RateLimit-Limit",
    ],
    [
      "a header with two values of a rate limit",
      dialect("id: code", "rate_limit_headers: { limit: X-Rate, reset: x-rate }\n  id: code"),
      "one header has two values",
    ],
    [
      "a unit of no header",
      dialect("id: code", "rate_limit_headers: { limit: X-Rate, reset_unit: seconds_left }\n  id: code"),
      'the header that has this unit is missing: "reset"',
    ],
    [
      "a rate limit in a header that frames messages",
      dialect("id: code", "rate_limit_headers: { limit: Content-Length }\n  id: code"),
      "is a header that frames messages",
    ],
    [
      "the type of responses as a header",
      dialect("id: code", "headers: { response: { Content-Type: { const: text/json } } }\n  id: code"),
      'or that the gateway writes itself: use "client.content_type"',
    ],
    [
      "a type of responses that is not JSON",
      dialect("id: code", "content_type: text/html\n  id: code"),
      "is not a media type of JSON, such as application/json; charset=utf-8",
    ],
    [
      "two types of responses",
      dialect(
        "id: code",
        "content_type: text/json\n  version: { media_type: application/vnd.old+json }\n  id: code",
      ),
      '"content_type" and "media_type" of "version" exclude each other',
    ],
    [
      "a version without a value",
      dialect("id: code", "version: { header: X-Version }\n  id: code"),
      'a version needs either "header" and "value", or "media_type"',
    ],
    [
      "a body that is merged with a call that the route does not have",
      { file: "tray.yaml", from: "{ place_ids: tray.place_ids }", to: "crate" },
      'the body is merged with "crate", and the route has no call "crate" before the main call',
    ],
    [
      "a member of a body from a call that the route does not have",
      { file: "tray.yaml", from: "merge_with:", to: "from_calls: { crate: crate.id }\n    merge_with:" },
      'the body has "crate.id", and the route has no call "crate" before the main call',
    ],
    ["a base path without a slash", dialect("base_path: /old", "base_path: old"), "8: must be a path prefix"],
    [
      "a query in the path of a route",
      book("GET /books,", "GET /books?x=1,"),
      "32: the path of a route has no query",
    ],
    [
      "a fragment in an upstream path",
      book("upstream: POST /items", "upstream: POST /items#x"),
      "38: a path has no fragment",
    ],
    [
      "a segment whose parameters nothing separates",
      book("client: GET /books/:number", "client: 'GET /books/{number}{name}'"),
      '33: "{number}{name}" needs text between its parameters',
    ],
    [
      "a brace of a path that holds no name",
      book("client: GET /books/:number", "client: 'GET /books/{}{number}'"),
      '33: "{}{number}" has a brace that holds no name; a parameter is a segment :id, or {id} anywhere',
    ],
    [
      "the rest of a path inside a segment",
      book("client: GET /books/:number", "client: 'GET /books/{number}-{rest}.txt'"),
      "33: :rest matches the rest of the path and must be last, without other text",
    ],
    [
      "an unknown value kind of a path parameter",
      dialect("rest: path", "rest: { values: stat }"),
      '11: unknown value kind "stat"; did you mean "state"?',
    ],
    [
      "a value of the query in a path that may be missing",
      book(
        "    upstream: GET /items/{number}\n",
        "    upstream: GET /items/{number}/{kind}\n    query: { parameters: { kind: { path: kind } } }\n",
      ),
      '36: a value in a path needs "required: true" or a "default"',
    ],
    [
      "a member for the path that the body does not have",
      book("    set: { origin", "    to_path: { id: place }\n    set: { origin"),
      '20: no member of the body is sent as "place"',
    ],
    [
      "a wrapper without the object",
      book("    set: { origin", "    upstream: { object: { book: item } }\n    set: { origin"),
      "20: a wrapper needs $object once",
    ],
    [
      "a path parameter of a wrapper that the path does not have",
      book(
        "    set: { origin",
        "    upstream: { object: { id: $number, book: $object } }\n    set: { origin",
      ),
      "39: the body uses :number, and the path has no such parameter",
    ],
    [
      "a form with a list at the top",
      {
        file: "tray.yaml",
        from: "routes:",
        to: "  add:\n    upstream: { media_type: application/x-www-form-urlencoded }\n    schema: { type: array }\n\nroutes:",
      },
      "23: a form has no list at the top",
    ],
    [
      "a media type of bodies with a wildcard",
      book("    set: { origin", "    upstream: { media_type: text/* }\n    set: { origin"),
      "20: a body has one exact media type",
    ],
    [
      "a required member without a property",
      book("required: [shelf]", "required: [shelv]"),
      '24: "shelv" is not a property of this schema; did you mean "shelf"?',
    ],
    [
      "a required member of a condition without a property",
      book("required: [shelf]", "anyOf: [{ required: [shelf] }, { required: [shelv] }]"),
      '24: "shelv" is not a property of this schema; did you mean "shelf"?',
    ],
    [
      "a property with a dot",
      book("title: { type: string, maxLength: 9 }", "location.room: { type: string }"),
      '26: the property "location.room" has a dot in its name, so no member is ever found under it; write a nested object: location: { type: object, properties: { room: … } }',
    ],
    [
      "a broken expression for writing a field that is in no body",
      book("format: date-time, filter", "format: date-time, write: '$value +', filter"),
      "12: not JSONata",
    ],
    [
      "an unknown value kind of an input that is in no body",
      book("  writer: {", "  other: { upstream: x, values: stat }\n  writer: {"),
      '15: unknown value kind "stat"; did you mean "state"?',
    ],
    [
      "a body of a route that sends a GET",
      book("upstream: POST /items, body", "upstream: GET /items, body"),
      '38: "body" has no effect',
    ],
    [
      "a call of a list that is fetched completely",
      {
        file: "tray.yaml",
        from: "upstream: GET /store,",
        to: "upstream: GET /store, calls: [tray],",
      },
      '"calls" has no effect',
    ],
  ] as const)("%s", (_what, edit, message) =>
    expect(diagnosticsOf(edit)).toEqual([expect.stringContaining(message)]),
  );
});

describe("check reports one mistake once", () => {
  test.each([
    [
      "one field that is indented less",
      book("  title:  { upstream: name", "title:  { upstream: name"),
      "8: All mapping items must start",
    ],
    ["a key that is indented less", dialect("  id: code\n", "id: code\n"), "pack.yaml:10: "],
    [
      "a map whose keys are not indented",
      dialect(
        "upstream:\n  name: new library\n  base_path: /api/new\n",
        "upstream:\nname: new library\nbase_path: /api/new\n",
      ),
      "compare the indentation",
    ],
    [
      "a rule that is indented like the schema around it",
      book("      properties:\n        title", "    properties:\n        title"),
      '25: unknown key "properties"',
    ],
    [
      "two files with the same object",
      { file: "tray.yaml", from: "object: tray", to: "object: book" },
      'tray.yaml:3: book.yaml has the object "book" already',
    ],
    [
      "a value kind that is invalid and used",
      dialect("{ in: available, out: lent }, otherwise", "5, otherwise"),
      "must be a map or a string, but is a number",
    ],
    [
      "a route whose only source is invalid",
      book("upstream: POST /items, body", "reject: 5, body"),
      "38: must be a string or a map, but is a number",
    ],
    [
      "a required key under a similar name",
      dialect("{ scheme: key }", "{ schem: key }"),
      'unknown key "schem"; did you mean "scheme"?',
    ],
    [
      "a file that is not a map",
      { file: "shelf.yaml", from: "object: shelf", to: "- object: shelf" },
      "shelf.yaml:3: ",
    ],
  ] as const)("%s", (_what, edit, message) =>
    expect(diagnosticsOf(edit)).toEqual([expect.stringContaining(message)]),
  );

  test("an empty map whose keys follow at its own level says what to indent", () => {
    const text = "  credentials: { scheme: key }";
    expect(diagnosticsOf(dialect(text, "  credentials:\n  scheme: key"))).toEqual([
      'pack.yaml:9: "credentials" is empty; indent "scheme" further: these keys are at its own level',
    ]);
  });
});

describe("check words a problem for authors", () => {
  test.each([
    [
      "an unknown keyword",
      book("maxLength: 9", "maxlength: 9"),
      '26: not a JSON Schema: unknown keyword "maxlength"; did you mean "maxLength"?',
    ],
    [
      "a wrong value of a keyword",
      book("maxLength: 9", "maxLength: nine"),
      "26: not a JSON Schema: must be integer",
    ],
    [
      "an unknown type",
      book("type: number, minimum", "type: numbr, minimum"),
      '28: not a JSON Schema: "numbr" is not allowed here; did you mean "number"?',
    ],
    [
      "an unknown format",
      book("{ type: integer }", "{ type: string, format: dat }"),
      '29: unknown format "dat"; there are: ip',
    ],
    [
      "an invalid pattern",
      book("{ type: integer }", "{ type: string, pattern: '(' }"),
      "29: not a regular expression of a pack",
    ],
    [
      "an empty name",
      dialect("parameter: page }, size: 10", "parameter: '' }, size: 10"),
      "12: must not be empty",
    ],
    ["a number below the smallest", dialect("maximum: 50", "maximum: 0"), "36: must be above 0"],
    [
      "a value of a wrong type",
      dialect("'$value / $rate'", "5"),
      "must be a map or a string, but is a number",
    ],
    [
      "a wrong value inside one form of a key",
      dialect("size: 10 }", "size: { parameter: per, default: 5, maximum: 9, above: rejct } }"),
      '12: "rejct" is not allowed here; did you mean "reject"? there are: reject, maximum',
    ],
    [
      "an unknown key inside one form of a key",
      book("upstream: POST /items, body", "pagination: { client: { sizes: 5 } }, body"),
      'unknown key "sizes"; did you mean "size"? there are: page, offset, cursor, size',
    ],
    ["a number that JSON does not have", book("origin: gateway", "origin: .inf"), "20: is not a JSON value"],
    [
      "a text in the short form of a key",
      dialect("  id: code", "  headers: { response: { ETag: 'X Bad' } }\n  id: code"),
      ": is not the name of a header: letters, digits and hyphens",
    ],
    ["an empty text in the short form of a field", book("number: id", "number: ''"), "6: must not be empty"],
    [
      "an operation instead of a call",
      book('[{ name: loan, upstream: "GET /items/{number}/loan", when: \'status = "out"\' }]', "[GET /loan]"),
      '"GET /loan" is not the name of a call; upstream: GET /loan',
    ],
    [
      "an unknown key of a call",
      book("[{ name: loan, upstream", "[{ nam: loan, upstream"),
      'unknown key "nam"; did you mean "name"?',
    ],
    [
      "a call without an operation",
      book('upstream: "GET /items/{number}/loan", ', ""),
      'the key "upstream" is missing',
    ],
    [
      "a missing key with a simple value",
      dialect("{ parameter: page }, size: 10", "{}, size: 10"),
      'the key "parameter" is missing; parameter: "page"',
    ],
    [
      "a missing key with a map",
      dialect(", size: { parameter: per_page, maximum: 50 }", ""),
      'the key "size" is missing; size: 25 # Number of items of every page.',
    ],
  ] as const)("%s", (_what, edit, message) => {
    const found = diagnosticsOf(edit);
    expect(found).toEqual([expect.stringContaining(message)]);
    expect(found[0]).not.toMatch(/strict mode|expected string|Invalid input/);
  });
});

describe("paths to v4", () => {
  const listOf = (rows: readonly unknown[]) =>
    [200, { rows, page: 1, last_page: 1, total: rows.length }] as const;
  const get = (path: string, ...edits: Edit[]) =>
    sendToLibrary({ edits }, { method: "GET", path }, () => listOf([]));

  test("of a list with its own query get the page as further parameters", async () => {
    const { sent } = await get(
      "/old/books?page=2",
      book("upstream: GET /items,", "upstream: 'GET /items?kind=book',"),
    );
    expect(sent.map(({ call }) => call)).toEqual(["GET /api/new/items?kind=book&page=2&per_page=10"]);
    const tray = { file: "tray.yaml", from: "upstream: GET /store,", to: "upstream: 'GET /store?all=1'," };
    const collected = await get("/old/every-tray", tray);
    expect(collected.sent.map(({ call }) => call)).toEqual(["GET /api/new/store?all=1&page=1&per_page=50"]);
  });

  test("with a query need the same scopes of native requests as without it", () => {
    const pack = withPack([book("upstream: GET /items,", "upstream: 'GET /items?kind=book',")], loadPack);
    expect(pack.v4Access("GET", "/api/new/items")?.required).toEqual([{ resource: "books", level: 0 }]);
  });

  test.each(["/", "/api/new/", "/api/new"])("with the prefix %s have no empty segment", async (prefix) => {
    const { sent } = await get("/old/books", dialect("base_path: /api/new", `base_path: ${prefix}`));
    expect(sent[0]?.call).toBe(`GET ${prefix === "/" ? "" : "/api/new"}/items?page=1&per_page=10`);
  });

  test("of a GET may use the response of a call before it", async () => {
    const edits = [
      dialect(
        "upstream: \"GET /crates/{number}\", when: '$exists(stands)'",
        'upstream: "GET /crates/{number}"',
      ),
      book(
        "- client: GET /books/:number\n    scope: books:look\n    upstream: GET /items/{number}\n    calls: [{",
        "- client: GET /books/:number\n    scope: books:look\n    upstream: GET /items/{tray.item}\n    calls: [tray, {",
      ),
    ];
    const { sent, status } = await sendToLibrary({ edits }, { method: "GET", path: "/old/books/5" }, (call) =>
      call.includes("crates") ? [200, { item: 7 }] : [200, { id: 7 }],
    );
    expect([status, sent.map(({ call }) => call)]).toEqual([
      200,
      ["GET /api/new/crates/5", "GET /api/new/items/7"],
    ]);
  });
});

test("a base path of / serves routes at the top", async () => {
  const { status } = await sendToLibrary(
    { edits: [dialect("base_path: /old", "base_path: /")] },
    { method: "GET", path: "/books/5" },
    () => [200, { id: 5 }],
  );
  expect(status).toBe(200);
});
