import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { JsonText } from "../../src/audit/json-text.ts";
import { makeRedaction } from "../../src/audit/redact.ts";

const names = ["root_pass", "password", "card_number", "cvv", "client_secret", "token", "ssl_key"];
const SECRET = "S3CR3T-value";
const redaction = makeRedaction({ names, bodyLimit: 16_384 });
const small = makeRedaction({ names, bodyLimit: 100 });

describe("values of members with a secret name", () => {
  test.each([
    ["at the top", { password: SECRET, label: "x" }, { password: "[redacted]", label: "x" }],
    ["nested", { a: [{ b: { cvv: SECRET } }] }, { a: [{ b: { cvv: "[redacted]" } }] }],
    ["of any type", { token: { value: [SECRET] } }, { token: "[redacted]" }],
    [
      "in other spellings",
      { "Root-Pass": 1, CARDNUMBER: 2 },
      { "Root-Pass": "[redacted]", CARDNUMBER: "[redacted]" },
    ],
    ["in JSON inside a string", { s: `{"cvv":"${SECRET}"}` }, { s: '{"cvv":"[redacted]"}' }],
    [
      "in a URL",
      { to: `https://x.example/?a=1&token=${SECRET}` },
      { to: "https://x.example/?a=1&token=[redacted]" },
    ],
    ["in a script", { data: `#!/bin/sh\nPASSWORD='${SECRET}'` }, { data: "#!/bin/sh\n[redacted]" }],
    ["that are absent stay absent", { ssl_key: null }, { ssl_key: null }],
  ])("%s", (_, body, recorded) => expect(redaction.value(body)).toEqual(recorded));

  test.each([
    ["other members", { label: "token", passwords: 3, tokens: ["x"], none: null, on: false, list: [] }],
    ["a reason that names a field", { errors: [{ reason: "Password is too weak.", field: "root_pass" }] }],
    ["a text with equals signs", { key: "ssh-rsa AAAA== me@host" }],
    ["a root array", [1, "two", null]],
    ["a mere string", "text"],
  ])("%s are kept", (_, body) => expect(redaction.value(body)).toEqual(body));
});

describe("what comes in as text", () => {
  test.each([
    ["JSON", `{"password":"${SECRET}","n":1}`, { password: "[redacted]", n: 1 }],
    ["the beginning of JSON", `{"n":1,"password":"${SECRET.slice(0, 8)}`, '{"n":1,"[redacted]'],
    ["with an escaped name", `{"n":1,"pass\\u0077ord":"${SECRET}`, '{"n":1,"[redacted]'],
    ["a form", `a=1&client_secret=${SECRET}&b=2`, "a=1&client_secret=[redacted]&b=2"],
    ["XML", `<a><password>${SECRET}</password></a>`, "<a><[redacted]"],
    [
      "a multipart form",
      `--b\r\nContent-Disposition: form-data; name="client_secret"\r\n\r\n${SECRET}\r\n--b--`,
      '--b\r\nContent-Disposition: form-data; name="[redacted]',
    ],
    ["HTML of a broken service", "<h1>502 Bad Gateway</h1>", "<h1>502 Bad Gateway</h1>"],
  ])("%s", (_, body, recorded) => {
    expect(redaction.raw(body)).toEqual(recorded);
    expect(redaction.raw(Buffer.from(body))).toEqual(recorded);
  });

  test("nothing is recorded of an empty body", () => expect(redaction.raw("")).toBeUndefined());
  test("nothing is recorded of no body", () => expect(redaction.value(undefined)).toBeUndefined());
  test("bytes that are no text do not matter", () =>
    expect(redaction.raw(Uint8Array.of(0xff, 0xfe))).toBe("\ufffd\ufffd"));
});

describe("sound JSON that is looked through as text", () => {
  test.each([
    ["a secret", `{"a":[{"Card-Number":"${SECRET}"}]}`, { a: [{ "Card-Number": "[redacted]" }] }],
    ["an escaped name", `{"to\\u006ben":"${SECRET}"}`, { token: "[redacted]" }],
    ["a name in a foreign letter", `{"to\u212aen":"${SECRET}"}`, { "to\u212aen": "[redacted]" }],
    ["a name in JSON in a string", `{"s":"{\\"c\\\\u0076v\\":1}"}`, { s: '{"cvv":"[redacted]"}' }],
    ["an encoded name", `{"to":"?t%6Fken=${SECRET}"}`, { to: "?t%6Fken=[redacted]" }],
    [
      "nothing secret",
      '{ "label": "x", "n": 12345678901234567890 }',
      { label: "x", n: 12345678901234567000 },
    ],
  ])("%s", (_, text, recorded) => expect(JSON.parse(JSON.stringify(redaction.json(text)))).toEqual(recorded));

  test("what nothing is taken out of is not read at all", () => {
    const text = '{ "n": 12345678901234567890 }';
    expect(redaction.json(text)).toEqual(new JsonText(text));
  });
});

describe("query strings and forms", () => {
  test.each([
    ["page=2&token=abc", "page=2&token=[redacted]"],
    ["/v4/x?token=abc", "/v4/x?token=[redacted]"],
    ["/v4/x?page=2", "/v4/x?page=2"],
    ["Client-Secret=abc", "Client-Secret=[redacted]"],
    ["%74oken=abc", "%74oken=[redacted]"],
    ["vm[root_pass]=abc", "vm[root_pass]=[redacted]"],
    ["token=a=b", "token=[redacted]"],
    ["x=%7B%22cvv%22%3A%22abc%22%7D", "x=%7B%22cvv%22%3A%22%5Bredacted%5D%22%7D"],
    ["to=https%3A%2F%2Fx%2F%3Ftoken%3Dabc", "to=https%3A%2F%2Fx%2F%3Ftoken%3D%5Bredacted%5D"],
    ["label=%zz", "label=%zz"],
    ["", ""],
  ])("%s", (text, recorded) => expect(redaction.query(text)).toBe(recorded));
});

describe("a body over the limit", () => {
  test("is cut, and marked so", () => {
    const recorded = small.value({ list: Array.from({ length: 100 }, () => "0123456789") }, 1312);
    expect(recorded).toMatchObject({ truncated: true, bytes: 1312 });
    expect((recorded as { text: string }).text).toMatch(/^\{"list":\["0123456789","/);
    expect(Buffer.byteLength((recorded as { text: string }).text)).toBeLessThanOrEqual(100);
  });

  test("of text is cut by bytes, between characters", () =>
    expect(small.raw("€".repeat(50))).toEqual({ truncated: true, bytes: 150, text: "€".repeat(33) }));

  test("of exactly the limit is whole", () => {
    const body = "x".repeat(98);
    expect(small.value(body)).toBe(body);
  });
});

describe("hostile bodies", () => {
  test("a member __proto__ stays a member", () => {
    const recorded = redaction.value(JSON.parse('{"__proto__":{"admin":true,"token":"x"}}'));
    expect(JSON.stringify(recorded)).toBe('{"__proto__":{"admin":true,"token":"[redacted]"}}');
    expect((recorded as { admin?: boolean }).admin).toBeUndefined();
  });

  test.each([
    ["nested too deeply", JSON.parse("[".repeat(5000) + "]".repeat(5000))],
    ["quoted too deeply", Array.from({ length: 8 }).reduce<string>((text) => JSON.stringify([text]), "x")],
    ["with itself inside", cyclic()],
    [
      "with an accessor that throws",
      {
        get password() {
          throw new Error("no");
        },
      },
    ],
    ["of no JSON type", () => 1],
  ])("%s throw nothing", (_, body) => expect(() => redaction.value(body)).not.toThrow());

  test.each([
    "a".repeat(500_000),
    "=".repeat(500_000),
    "p_".repeat(250_000),
    "\\u".repeat(250_000),
    "%22".repeat(200_000),
  ])("long texts take linear time", (text) =>
    expect(JSON.stringify(redaction.raw(`${text}:`)).length).toBeLessThan(120_000),
  );

  test("digits of great numbers are kept", () =>
    expect(redaction.value({ n: 12_345_678_901_234_567_890n })).toEqual({ n: "12345678901234567890" }));
});

describe("whatever a body looks like", () => {
  const secretName = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom("", "-", "_"), fc.boolean())
    .map(([name, joint, upper]) => {
      const spelt = name.replaceAll("_", joint);
      return upper ? spelt.toUpperCase() : spelt;
    });
  const planted = fc.letrec<{ node: unknown; object: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.jsonValue({ maxDepth: 1 }),
      tie("object"),
      fc.array(tie("node"), { maxLength: 4 }),
      tie("object").map((value) => JSON.stringify(value)),
      secretName.map((name) => `https://x.example/?a=b&${name}=${SECRET}`),
    ),
    object: fc
      .tuple(
        fc.dictionary(fc.string(), tie("node"), { maxKeys: 3 }),
        secretName,
        fc.constantFrom(SECRET, [SECRET], { a: SECRET }),
      )
      .map(([members, name, secret]) => Object.fromEntries([...Object.entries(members), [name, secret]])),
  })).object;

  test("no planted secret is in the record, and the body is unchanged", () => {
    fc.assert(
      fc.property(planted, fc.constantFrom(redaction, small), (body, { value }) => {
        const before = JSON.stringify(body);
        expect(JSON.stringify(value(body))).not.toContain("S3CR3T");
        expect(JSON.stringify(body)).toBe(before);
      }),
    );
  });

  test("nor when it is looked through as text, however it is spelt", () => {
    const text = fc.tuple(planted, fc.nat(4)).map(([body, spaces]) => JSON.stringify(body, null, spaces));
    fc.assert(
      fc.property(text, fc.constantFrom(redaction, small), (body, { json }) => {
        expect(JSON.stringify(json(body))).not.toContain("S3CR3T");
      }),
    );
  });

  test("looked through as text it is recorded as if it had been read", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), planted), (body) => {
        const text = JSON.stringify(body);
        expect(JSON.stringify(redaction.json(text))).toBe(JSON.stringify(redaction.raw(text)));
        expect(JSON.stringify(small.json(text))).toBe(JSON.stringify(small.raw(text)));
      }),
    );
  });

  test("nor when only its beginning was read, at any length", () => {
    fc.assert(
      fc.property(planted, fc.nat(400), fc.constantFrom(redaction, small), (body, length, { raw, text }) => {
        const beginning = JSON.stringify(body).slice(0, length);
        expect(JSON.stringify(raw(beginning) ?? "")).not.toContain("S3CR3T");
        expect(text(beginning)).not.toContain("S3CR3T");
      }),
    );
  });

  test("nor in a query", () => {
    fc.assert(
      fc.property(secretName, fc.dictionary(fc.string(), fc.string()), (name, others) => {
        const form = new URLSearchParams([...Object.entries(others), [name, SECRET]]).toString();
        expect(redaction.query(form)).not.toContain("S3CR3T");
        expect(redaction.query(`/path?${form}`)).not.toContain("S3CR3T");
      }),
    );
  });
});

function cyclic(): object {
  const list: unknown[] = [];
  list.push(list, list);
  return list;
}
