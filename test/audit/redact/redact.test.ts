import { describe, expect, jest, test } from "@jest/globals";
import * as fc from "fast-check";
import { countAllocations } from "../../../fuzz/worst/allocations.ts";
import type { SentBody } from "../../../src/audit/record/client-body.ts";
import { JsonText } from "../../../src/audit/record/json-text.ts";
import { Redaction } from "../../../src/audit/redact/redact.ts";
import { parseJson, printJson } from "../../../src/base/json/parse.ts";
import { USUAL_SECRET_NAMES } from "../../../src/pack/load/usual-secret-names.ts";
import { packIn } from "../../support/packs.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { isLinear } from "../../support/growth.ts";

const names = ["root_pass", "*password*", "card_number", "cvv", "client_secret", "token", "ssl_key"];
const SECRET = "S3CR3T-value";
const FORM = "application/x-www-form-urlencoded";
const redaction = new Redaction({ names, bodyLimit: 16_384 });
const small = new Redaction({ names, bodyLimit: 100 });

describe("redaction of members with a secret name", () => {
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
    ["in a script", { data: `#!/bin/sh\nPASSWORD='${SECRET}'` }, { data: "#!/bin/sh\nPASSWORD=[redacted]" }],
    [
      "with a blank in the name",
      { "root pass": 1, "pass\tword": 2 },
      { "root pass": "[redacted]", "pass\tword": "[redacted]" },
    ],
    [
      "with a letter in the name that nobody sees",
      { "pass\u200bword": 1, "to\u00adken": 2, "c\ufe0fvv\u3164": 3, "pass\u0000word": 4 },
      {
        "pass\u200bword": "[redacted]",
        "to\u00adken": "[redacted]",
        "c\ufe0fvv\u3164": "[redacted]",
        "pass\u0000word": "[redacted]",
      },
    ],
    [
      "with letters of full width, mathematical ones and accents in the name",
      { ｐａｓｓｗｏｒｄ: 1, 𝐭𝐨𝐤𝐞𝐧: 2, pásswórd: 3 },
      { ｐａｓｓｗｏｒｄ: "[redacted]", 𝐭𝐨𝐤𝐞𝐧: "[redacted]", pásswórd: "[redacted]" },
    ],
    [
      "within a longer name, where the pack says so",
      { new_password: 1, passwordConfirmation: 2, "server.root_pass": 3, "vm[cvv]": 4 },
      {
        new_password: "[redacted]",
        passwordConfirmation: "[redacted]",
        "server.root_pass": "[redacted]",
        "vm[cvv]": "[redacted]",
      },
    ],
    [
      "as the user info of a URL",
      {
        to: `https://me:${SECRET}@x.example/a`,
        or: `see //${SECRET}@x.example, or https:\\/\\/me:${SECRET}@y`,
      },
      { to: "https://[redacted]@x.example/a", or: "see //[redacted]@x.example, or https:\\/\\/[redacted]@y" },
    ],
    [
      "in text, however the name is spelt",
      {
        s: `set ｐａｓｓ word：${SECRET}`,
        t: `its new_password_2 = ${SECRET}`,
        u: `pass%2577ord: ${SECRET}`,
      },
      { s: "set ｐａｓｓ word：[redacted]", t: "its new_password_2 =[redacted]", u: "password:[redacted]" },
    ],
    ["that are null stay null", { ssl_key: null }, { ssl_key: null }],
  ])("redacts %s", (_, body, recorded) => expect(redaction.value(body)).toEqual(recorded));

  test.each([
    ["other members", { label: "token", cvvs: 3, tokens: ["x"], none: null, on: false, list: [] }],
    ["a reason that names a field", { errors: [{ reason: "Password is too weak.", field: "root_pass" }] }],
    ["a text with equals signs", { key: "ssh-rsa AAAA== me@host" }],
    ["a root array", [1, "two", null]],
    ["a mere string", "text"],
  ])("keeps %s", (_, body) => expect(redaction.value(body)).toEqual(body));
});

/** The usual names alone, as for an API that nobody has described, and with those of a pack. */
const usual = [
  ["no pack", new Redaction({ names: USUAL_SECRET_NAMES, bodyLimit: 16_384 })],
  ["the pack", new Redaction({ names: packIn("mappings").secretNames, bodyLimit: 16_384 })],
] as const;
const words = (text: string): string[] => text.trim().split(/\s+/);

/** A name as a header has it: in lower case, so that only signs separate its parts. */
const headerName = (name: string): string =>
  name.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "-").toLowerCase();

describe.each(usual)("usual names, with those of %s", (_, redaction) => {
  test.each(
    words(`
      password passwd Passwort pass pw pwd pswd psk root_pass rootPass rootpass db_pass user_pw userPW old-pwd new.pass
      passphrase pass_phrase passcode passkey pre_shared_key wifi_psk kennwort mot_de_passe contraseña
      pin PIN user_pin userPin pinCode pin_code card-pin pin2 PINCode puk otp otp_code OTPCode totp mfa_code tfa_code
      sms_code security_code verification_code activation_code reset_code access_code recovery_code recoveryCodes
      backup_codes scratch_codes device_code invite_code security_answer
      ssn user_ssn ssnLast4 social_security_number iban IBAN debtor_iban account_number
      cvv cvv2 CVV2 card_cvv cvc csc card_number cardNumber cc_number credit_card_number card_code
      secret client_secret clientSecret shared_secret appsecret api_key apiKey apikey X-API-Key api_keys access_key
      AccessKeyId auth_key app_key private_key privateKeyPem signing_key encryption_key decryption_key master_key
      shared_key session_key ssl_key tls_key license_key subscription-key consumer_key key_material kubeconfig
      token access_token refreshToken id_token csrf_token jwt user_jwt authJwt bearer credential credentials
      db_credentials userCredential auth_header basic_auth proxy_authorization
      session session_id sessionId PHPSESSID JSESSIONID connect.sid sid cookie set-cookie
      signature X-Hub-Signature-256 request_signature sig x_sig hmac body_hmac
      connection_string ConnectionString conn_str dsn sentry_dsn mnemonic seed_phrase code_verifier
      assertion client_assertion saml_assertion SAMLResponse SAMLart
      auth X-Custom-Auth app_auth secret_ticket secretTicket`),
  )("%s is secret in JSON, a form, a query, a header and a text", (name) => {
    const hidden = (recorded: unknown): void => expect(JSON.stringify(recorded)).not.toContain(SECRET);
    const json = Buffer.from(JSON.stringify({ label: "x", in: [{ [name]: SECRET }] }));
    const pair = `label=x&${encodeURIComponent(name)}=${SECRET}`;
    hidden(redaction.json(json));
    hidden(redaction.body({ bytes: json }));
    hidden(redaction.query(pair));
    hidden(redaction.body({ bytes: Buffer.from(pair), type: FORM }));
    hidden(redaction.text(`see ${name}: ${SECRET}`));
    hidden(redaction.path(`/x/${encodeURIComponent(name)}/${SECRET}/accept`, false));
    for (const sent of [
      { headers: { [headerName(name)]: SECRET } },
      { query: pair },
      { body: { bytes: json } },
    ]) {
      const values = redaction.search.find({ path: "/", isRoute: false, query: "", texts: [], ...sent });
      expect(values.redact(`<${SECRET}>`)).toBe("<[redacted]>");
    }
  });

  test.each(
    words(`
      spin spinning pinned pinned_at shipping shippingAddress opinion mapping pins upwards pwa session_name sessionCount
      sessions keyboard monkey key key_id keys public_key ssh_key authorized_keys primary_key passenger passive
      check_passive compass bypass passed passport author author_id oauth oauth_clients authentication_type
      lish_auth_method two_factor_auth assign assigned_to signal design signed_at signup footprint hotplug inside
      outside side president residence classname ssnippet caliban discard_reason card_type cardinality
      account_access status_code zip_code country_code error_code postal_code token_type token_type_hint max_tokens
      client_assertion_type assertions assertion_count tickets ticket_id
      token_endpoint tokenizer secretary secretary_name passwordless bearer_format signature_algorithm connection
      connections connection_count conn_throttle recovery recovered_at answer answered_at
      label description type state hash digest size seed salt nonce`),
  )("%s is not", (name) => {
    const body = { in: [{ [name]: "plain-value" }] };
    expect(JSON.parse(JSON.stringify(redaction.json(Buffer.from(JSON.stringify(body)))))).toEqual(body);
    const query = `label=x&${name}=plain-value`;
    expect(redaction.query(query)).toBe(query);
    expect(redaction.path(`/x/${name}/plain-value`, false)).toBe(`/x/${name}/plain-value`);
  });
});

describe("a ticket", () => {
  const [[, redaction]] = usual;

  test("of a sign-in is a text, and is secret", () => {
    const sent = { query: `service=x&ticket=${SECRET}`, headers: { ticket: SECRET } };
    expect(redaction.query(sent.query)).toBe("service=x&ticket=[redacted]");
    expect(redaction.value({ ticket: SECRET })).toEqual({ ticket: "[redacted]" });
    const values = redaction.search.find({ path: "/", isRoute: false, texts: [], ...sent });
    expect(values.redact(SECRET)).toBe("[redacted]");
  });

  test.each([{ ticket: { id: 1, subject: "Lost mail" } }, { ticket: 12 }])(
    "of a help desk is not: %o",
    (body) => expect(redaction.value(body)).toEqual(body),
  );
});

describe("a short name as a part of a longer one", () => {
  const [, [, redaction]] = usual;
  test.each([
    ["in full width", "ｐｉｎ_code"],
    ["with an accent", "pín_code"],
    ["with a letter that nobody sees", "p\u200bin_code"],
    ["in Cyrillic letters", "ОТР_code"],
    ["in brackets", "user[pin_code]"],
    ["in capital letters", "PIN-CODE"],
    ["with a blank", "user pin"],
    ["with a digit", "otp2"],
  ])("is found %s, in JSON and in a text", (_, name) => {
    const text = JSON.stringify({ a: [{ [name]: SECRET }] });
    expect(JSON.stringify(redaction.json(Buffer.from(text)))).not.toContain(SECRET);
    expect(redaction.text(`é, ${name}: ${SECRET}`)).not.toContain(SECRET);
    expect(JSON.stringify(redaction.raw(`${name}\t${SECRET}`))).not.toContain(SECRET);
    expect(JSON.stringify(redaction.raw(`<${name}>${SECRET}</${name}>`))).not.toContain(SECRET);
  });
});

describe("redaction of bodies of text", () => {
  test.each([
    ["JSON", `{"password":"${SECRET}","n":1}`, { password: "[redacted]", n: 1 }],
    ["a form", `a=1&client_secret=${SECRET}&b=2`, "a=1&client_secret=[redacted]&b=2"],
    ["a form with a value", `value=${SECRET}&a=1&name=password`, "value=[redacted]&a=1&name=password"],
    ["HTML of a broken service", "<h1>502 Bad Gateway</h1>", "<h1>502 Bad Gateway</h1>"],
    ["a sentence in another alphabet", "<p>Ошибка: 100\u00a0%</p>", "<p>Ошибка: 100\u00a0%</p>"],
  ])("records %s", (_, body, recorded) => {
    expect(redaction.raw(body)).toEqual(recorded);
    expect(redaction.raw(Buffer.from(body))).toEqual(recorded);
  });

  test.each([
    ["the beginning of JSON", `{"n":1,"password":"${SECRET.slice(0, 8)}`],
    ["the beginning of JSON with an escaped name", `{"n":1,"pass\\u0077ord":"${SECRET}`],
    ["JSON with a member that is repeated", `{"password":"${SECRET}","password":"other-value"}`],
    ["XML", `<a><password>${SECRET}</password></a>`],
    [
      "a multipart form",
      `--b\r\nContent-Disposition: form-data; name="client_secret"\r\n\r\n${SECRET}\r\n--b--`,
    ],
    [
      "a multipart form without quotation marks",
      `--b\r\nContent-Disposition: form-data; name=client_secret\r\n\r\n${SECRET}\r\n--b--`,
    ],
    ["a table of names and values", `label\tweb\nclient secret\t${SECRET}`],
    ["a table with a name that counts alone", `label\tweb\ncvv\t${SECRET}`],
    ["a name of two words in the form of RFC 8187", `name*=utf-8''client%20secret\r\n\r\n${SECRET}`],
    ["text in UTF-16", `token: ${SECRET}`.split("").join("\0")],
    ["broken JSON with a value", `{"value":"${SECRET}","name":"password",}`],
    ["broken JSON in single quotes", `{'value': '${SECRET}', 'name': 'password'}`],
    ["a text with user info", `see https://me:${SECRET}@x.example for more`],
  ])("does not record %s with the name of a secret, and marks it", (_, body) => {
    const mark = {
      truncated: true,
      bytes: body.length,
      text: "",
      why: "secrets in a text that is no JSON and no form",
    };
    expect(redaction.raw(body)).toEqual(mark);
    expect(redaction.raw(Buffer.from(body))).toEqual(mark);
    expect(redaction.body({ bytes: Buffer.from(body) })).toMatchObject({ truncated: true, text: "" });
    expect(redaction.start(Buffer.from(body), 100_000)).toEqual({ ...mark, bytes: 100_000 });
  });

  test("does not record the start of a body with a value, whose name may be behind the cut", () =>
    expect(redaction.start(Buffer.from(`{"value":"${SECRET}","na`), 100_000)).toMatchObject({ text: "" }));

  test("records nothing for an empty body", () => expect(redaction.raw("")).toBeUndefined());
  test("records nothing for no body", () => expect(redaction.value(undefined)).toBeUndefined());
  test("accepts bytes that are not text", () =>
    expect(redaction.raw(Uint8Array.of(0xff, 0xfe))).toBe("\ufffd\ufffd"));
});

describe("redaction of valid JSON as text", () => {
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
  ])("redacts %s", (_, text, recorded) =>
    expect(JSON.parse(JSON.stringify(redaction.json(Buffer.from(text))))).toEqual(recorded),
  );

  test.each([
    ["a name", `"root_pass":"${SECRET}"`],
    ["a name with other signs in it", `"R o-O+t_paSS":"${SECRET}"`],
    ["a longer name", `"the_password_2":"${SECRET}"`],
    ["a name in a list of names", `"vm[cvv]":"${SECRET}"`],
    ["a pair in a text", `"s":"a=1&token=${SECRET}"`],
    ["a name of a part of a form", `"s":"form-data; name=cvv2 ${SECRET}"`],
    ["a text", `"s":"my card number : ${SECRET}"`],
    ["user info", `"s":"https://me:${SECRET}@example.net"`],
    ["the name of a value", `"value":"${SECRET}","name":"cvv"`],
  ])("redacts %s at each offset of a body", (_, members) => {
    for (let before = 0; before < 300; before += 1) {
      const text = `{"a":"${"x".repeat(before)}",${members},"b":"${"x".repeat(300 - before)}"}`;
      expect(JSON.stringify(redaction.json(Buffer.from(text)))).not.toContain(SECRET);
    }
  });

  test("does not parse text without a secret", () => {
    const text = '{ "n": 12345678901234567890 }';
    expect(redaction.json(Buffer.from(text))).toEqual(new JsonText(text));
  });
});

describe("a JSON text gives what its parsed value gives", () => {
  const words = [...names, "pin", "otp", "pass", "tokens[]", "!token_type"];
  const redaction = new Redaction({ names: words, bodyLimit: 16_384 });
  const letter = fc.constantFrom(...Array.from("pinotkeasw"));
  const word = fc.oneof(
    fc.constantFrom(
      ...words.map((name) => name.replaceAll(/[*!]|\[\]/g, "")),
      "name",
      "key",
      "value",
      "field",
      "parameter",
    ),
    fc.array(letter, { maxLength: 6 }).map((letters) => letters.join("")),
    fc.constantFrom(
      "shipping",
      "network_out",
      "Авс",
      "pаss",
      "ＰＩＮ",
      "token_type",
      "p\u0300in",
      "a@b",
      "",
      "it's",
    ),
  );
  const text = fc
    .array(
      fc.oneof(
        word,
        fc.constantFrom("=", ":", "%70", "\\u0070", '"', " ", "//u:p@", "&", "\t", "{", "[", "/"),
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join(""));
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: "small", maxDepth: 4 },
      text,
      fc.constantFrom(null, 1, true, 12_345),
      fc.array(tie("json"), { maxLength: 3 }),
      fc.dictionary(fc.oneof(word, text), tie("json"), { maxKeys: 4 }),
    ),
  }));
  /** JSON with each string spelt in one of several ways, and white space anywhere. */
  const written = fc.tuple(json, fc.infiniteStream(fc.nat(9))).map(([value, ways]) => {
    const way = (): number => ways.next().value as number;
    const spelt = (string: string): string =>
      way() === 0
        ? `"${[...Array(string.length).keys()].map((at) => `\\u${string.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`
        : JSON.stringify(string);
    const space = (): string => (way() === 1 ? " \n" : "");
    const print = (of: unknown): string => {
      if (typeof of === "string") return spelt(of);
      if (typeof of !== "object" || of === null) return JSON.stringify(of);
      const inner = Array.isArray(of)
        ? of.map((item) => print(item))
        : Object.entries(of).map(([name, member]) => `${spelt(name)}${space()}:${space()}${print(member)}`);
      const [open, close] = Array.isArray(of) ? "[]" : "{}";
      return `${open}${space()}${inner.join(`${space()},${space()}`)}${space()}${close}`;
    };
    return print(value);
  });
  const findValues = () =>
    redaction.search.find(
      { path: "/", isRoute: true, query: "", texts: ['{"token":"pinto"}', '{"pin":"a@b=c1"}'] },
      ["shipping-token"],
    );

  test.each([
    ["without values", () => undefined],
    ["with values", findValues],
  ])("redacts %s", (_, find) => {
    fc.assert(
      fc.property(written, (body) => {
        const values = find();
        if (values) redaction.search.addFromBody(Buffer.from(body), values);
        const plain = (recorded: unknown): unknown => JSON.parse(JSON.stringify(recorded));
        expect(plain(redaction.json(Buffer.from(body), values))).toEqual(
          plain(redaction.value(JSON.parse(body), undefined, values)),
        );
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    { network_out: 10, description: "spinning top: code none", shipping: "12:30", pinned: [] },
    { root_pass: null, tokens: null, label: "C:\\pass" },
    { name: "shipping", value: "x", key: "naming" },
  ])("%o is recorded as it came", (value) => {
    expect(redaction.json(Buffer.from(JSON.stringify(value)))).toMatchObject({ text: JSON.stringify(value) });
  });
});

describe("a value whose name is the text of another member", () => {
  const sentIn = (sent: object) => ({
    path: "/",
    isRoute: true,
    query: "",
    texts: [],
    body: { bytes: Buffer.from(JSON.stringify(sent)) },
  });

  test.each([
    ["JSON Patch", { op: "replace", path: "/user/password", value: SECRET }],
    ["JSON Patch that adds to a list", { op: "add", path: "/user/passwords/-", value: SECRET }],
    ["JSON Patch with an object", { op: "add", path: "/user/token", value: { any: SECRET } }],
    ["SCIM", { Operations: [{ op: "replace", path: "password", value: SECRET }] }],
    ["SCIM with capital letters", { Operations: [{ Op: "Replace", Path: "Password", Value: SECRET }] }],
    ["SCIM with a path", { op: "replace", path: "user.root_pass", value: SECRET }],
    ["SCIM with a filter", { op: "replace", path: 'passwords[type eq "work"].value', value: SECRET }],
    [
      "SCIM with the URN of a schema",
      { op: "replace", path: "urn:ietf:params:scim:schemas:core:2.0:User:password", value: SECRET },
    ],
    ["a member of any name", { attribute: "client_secret", value: SECRET }],
    ["a bracket", { where: "server[cvv]", value: SECRET }],
    ["a value in front", { value: SECRET, [`x".a`]: "token" }],
    ["a list of values", { key: "password", operator: "in", values: [SECRET] }],
    ["members that are paths", { "filter[0][name]": "password", "filter[0][value]": SECRET }],
    ["a list of a form", { name: "password", "value[]": [SECRET] }],
    ["a list of names", { name: ["label", "root_pass"], value: SECRET }],
    ["a longer name", { name: "root_pass", newValue: SECRET }],
    ["a numbered name", { value2: SECRET, name: "root_pass" }],
  ])("is redacted in %s", (_, body) => {
    const text = JSON.stringify([body]);
    const values = redaction.search.find(sentIn([body]));
    for (const recorded of [
      redaction.json(Buffer.from(text)),
      redaction.value([body]),
      redaction.raw(text),
      redaction.value({ data: text }),
      redaction.text(`No: ${SECRET}.`, values),
    ])
      expect(JSON.stringify(recorded)).not.toContain(SECRET);
  });

  test.each([
    `op=replace&path=/user/password&value=${SECRET}`,
    `value=${SECRET}&attribute=password`,
    `name=password&value[]=${SECRET}`,
    `value[]=${SECRET}&attribute=password`,
    `filter[0][name]=password&filter[0][value]=${SECRET}`,
    `filter%5B0%5D%5Bvalue%5D=${SECRET}&filter%5B0%5D%5Bname%5D=password`,
    `filter.0.key=password&filter.0.value=${SECRET}`,
    `key=password&values=${SECRET}`,
    `name=password&Value.text=${SECRET}`,
    `name=root_pass&name=label&value=${SECRET}`,
    `name=root_pass&new_value=${SECRET}`,
    `the_value=${SECRET}&attribute=root_pass`,
    `value_=${SECRET}&attribute=root_pass`,
    `value2=${SECRET}&attribute=root_pass`,
    `newValue=${SECRET}&attribute=root_pass`,
  ])("is redacted in the form %s", (form) => {
    expect(redaction.query(form)).not.toContain(SECRET);
    expect(JSON.stringify(redaction.body({ bytes: Buffer.from(form), type: FORM }))).not.toContain(SECRET);
    expect(redaction.search.find(sentIn({ form })).redact(SECRET)).toBe("[redacted]");
  });

  test.each([
    "value",
    "values",
    "newValue",
    "the_value",
    "value_2",
    "value[]",
    "filter[0][value]",
    "filter[0][value][text]",
  ])("is redacted in broken JSON as %s", (name) =>
    expect(redaction.text(`{"${name}":["${SECRET}"],"filter[0][name]":"password",}`)).not.toContain(SECRET),
  );

  test.each([
    { op: "replace", path: "/user/name", value: "Ann" },
    { op: "replace", path: 'emails[type eq "work"].value', value: "ann@example.net" },
    { label: "size", value: "large", unit: "", at: "/a/b" },
    { value: "password", label: "x" },
    { newValue: "password", label: ["size"] },
    { name: "password", evalue: "x", valued: "y" },
  ])("stays if no text is the name of a secret: %o", (body) => expect(redaction.value(body)).toEqual(body));
});

describe("the password in an option of curl", () => {
  test.each([
    [`curl --user admin:${SECRET}`, "curl --user [redacted]"],
    [`curl -u 'admin:${SECRET}' -s`, "curl -u '[redacted]' -s"],
    [`curl --proxy-user=admin:${SECRET}`, "curl --proxy-user=[redacted]"],
    ["docker run -u 1000:1000 x", "docker run -u 1000:1000 x"],
    ["x-u a:b", "x-u a:b"],
  ])("is redacted in %s", (text, recorded) => {
    expect(redaction.text(text)).toBe(recorded);
    expect(JSON.stringify(redaction.json(Buffer.from(JSON.stringify({ text }))))).not.toContain(SECRET);
    const values = redaction.search.find({ path: "/", isRoute: true, query: "", texts: [text] });
    expect(values.redact(text)).not.toContain(SECRET);
  });
});

describe("redaction of query strings and forms", () => {
  test.each([
    ["page=2&token=abc", "page=2&token=[redacted]"],
    ["/v4/x?token=abc", "/v4/x?token=[redacted]"],
    ["/v4/x?page=2", "/v4/x?page=2"],
    ["Client-Secret=abc", "Client-Secret=[redacted]"],
    ["%74oken=abc", "%74oken=[redacted]"],
    ["vm[root_pass]=abc", "vm[root_pass]=[redacted]"],
    ["root_pass=abc,Tail&b=1", "root_pass=[redacted]&b=1"],
    ["a=1&root_pass=abc;Tail?more", "a=1&root_pass=[redacted]"],
    ["root_pass=abc; session=x", "root_pass=[redacted] session=x"],
    ["token=a=b", "token=[redacted]"],
    ["x=%7B%22cvv%22%3A%22abc%22%7D", "x=%7B%22cvv%22%3A%22%5Bredacted%5D%22%7D"],
    ["to=https%3A%2F%2Fx%2F%3Ftoken%3Dabc", "to=https%3A%2F%2Fx%2F%3Ftoken%3D%5Bredacted%5D"],
    ["label=%zz", "label=%zz"],
    [`token=a#${SECRET}&a=1`, "token=[redacted]&a=1"],
    [`a=#token=${SECRET}#${SECRET}`, "a=#token=[redacted]"],
    ["", ""],
  ])("redacts %s", (text, recorded) => {
    expect(redaction.query(text)).toBe(recorded);
    expect(redaction.target(`/v4/x?${text}`)).toBe(`/v4/x?${recorded}`);
  });
});

describe("redaction of paths", () => {
  test.each([
    ["/v4/vm/instances/12", "/v4/vm/instances/12"],
    [`/v4/token/${SECRET}`, "/v4/token/[redacted]"],
    [`/v4/TO%4BEN//${SECRET}/x`, "/v4/TOKEN//[redacted]/x"],
    [`/v4/x/token%2F${SECRET}`, "/v4/x/token/[redacted]"],
    [`/v4/x/token=${SECRET}`, "/v4/x/token=[redacted]"],
    [`/v4/x/token%3A${SECRET}`, "/v4/x/token:[redacted]"],
    [`/v4/password%252F${SECRET}`, "/v4/password/[redacted]"],
    [`/v4/pass%2577ord/${SECRET}/x`, "/v4/password/[redacted]/x"],
    [`/v4/x/token%25253D${SECRET}`, "/v4/x/token=[redacted]"],
    [`/v4/x;cvv=${SECRET}/y`, "/v4/x;cvv=[redacted]/y"],
    [`/v4/https://me:${SECRET}@host/y`, "/v4/https://[redacted]@host/y"],
    [`/v4/https:%2F%2Fme:${SECRET}@host/y`, "/v4/https://[redacted]@host/y"],
    [`/v4/https://me:a%20%5C%2F${SECRET}@host/y`, "/v4/https://[redacted]@host/y"],
    ["/v4/100%25/a+b", "/v4/100%25/a+b"],
    [`/password/reset/${SECRET}`, "/password/reset/[redacted]"],
    [`/reset/password/${SECRET}`, "/reset/password/[redacted]"],
    [`/token/${SECRET}/accept`, "/token/[redacted]/accept"],
    [`/reset/${SECRET}`, "/reset/[redacted]"],
    [`/x/name/root_pass/value/${SECRET}`, "/x/name/root_pass/value/[redacted]"],
    [`/users/12/verify/${SECRET}/next`, "/users/12/verify/[redacted]/next"],
    ["/users/verify/123456", "/users/verify/[redacted]"],
    ["/users/12/reset", "/users/12/reset"],
    ["/token/refresh", "/token/refresh"],
  ])("redacts %s", (path, recorded) => expect(redaction.path(path, false)).toBe(recorded));

  test("redacts texts behind the name of a list of secrets, and no ids", () => {
    const withList = new Redaction({ names: ["codes[]"], bodyLimit: 100 });
    expect(withList.path(`/codes/${SECRET}/x`, false)).toBe("/codes/[redacted]/x");
    expect(withList.path("/codes/5/x", false)).toBe("/codes/5/x");
  });

  test("keeps the literal segments of a route behind a secret name", () => {
    expect(redaction.path("/oauth/token/expire", true)).toBe("/oauth/token/expire");
    expect(redaction.path(`/v4/x/token=${SECRET}`, true)).toBe("/v4/x/token=[redacted]");
  });

  test("redacts the value in a parameter of a route that is a path of its own", () => {
    for (const slash of ["%2F", "%252f"])
      expect(redaction.path(`/v4/x/password${slash}${SECRET}/y`, true)).toBe("/v4/x/password/[redacted]/y");
  });
});

const bytes = (text: string, encoding: BufferEncoding = "utf8"): Uint8Array => Buffer.from(text, encoding);

describe("redaction of a client's body", () => {
  test.each([
    ["JSON", { bytes: bytes('{"cvv":1,"n":2}') }, { cvv: "[redacted]", n: 2 }],
    ["JSON that is called a form", { bytes: bytes('{"cvv":1}'), type: FORM }, { cvv: "[redacted]" }],
    [
      "a form, by its members",
      { bytes: bytes(`a=1&client%5fsecret=${SECRET}&a=2;token`), type: FORM },
      { a: ["1", "2;token"], client_secret: "[redacted]" },
    ],
    [
      "a multipart form, by the members that were read",
      {
        bytes: bytes("--b…"),
        type: "multipart/form-data; boundary=b",
        form: [
          ["token", SECRET],
          ["file", {}],
          ["a", "1"],
        ] as const,
      },
      { token: "[redacted]", file: { file: true }, a: "1" },
    ],
    [
      "a multipart form whose names have signs of JSON, markup or a query",
      {
        bytes: bytes("--b…"),
        type: "multipart/form-data; boundary=b",
        form: [
          ["token", SECRET],
          ["a=b", "1"],
        ] as const,
      },
      { token: "[redacted]", "a=b": "1" },
    ],
    [
      "a multipart form that nobody read",
      { bytes: bytes(`name=token\r\n\r\n${SECRET}`), type: "multipart/form-data; boundary=b" },
      { truncated: true, bytes: 26, text: "", why: "a form that was not read" },
    ],
    ["nothing", { bytes: bytes("") }, undefined],
  ])("redacts %s", (_, body, recorded) => expect(redaction.body(body)).toEqual(recorded));

  test.each([
    ["JSON that is not UTF-8", bytes(`{"é":1,"token":"${SECRET}"}`, "latin1"), "application/json", false],
    ["JSON in another charset", bytes(`{"token":"${SECRET}"}`), "application/json; charset=utf-7", false],
    [
      "a multipart form that nobody read",
      bytes(`name=token\r\n\r\n${SECRET}`),
      "multipart/form-data; boundary=b",
      false,
    ],
    ["a file", bytes(`\xff token ${SECRET}`, "latin1"), "image/png", true],
  ])("the record says whether %s was searched for secrets", (_, body, type, isComplete) => {
    const sent = { path: "", isRoute: true, query: `q=${SECRET}`, texts: [], body: { bytes: body, type } };
    expect(redaction.search.find(sent).isComplete).toBe(isComplete);
  });

  test.each([
    ["UTF-16", bytes(`{"token":"${SECRET}"}`, "utf16le"), undefined],
    ["UTF-16 with its mark", Buffer.concat([Uint8Array.of(0xff, 0xfe), bytes("{}", "utf16le")]), undefined],
    ["ISO 8859-1", bytes(`{"é":"${SECRET}"}`, "latin1"), undefined],
    ["UTF-7, as it says", bytes("+AHs-"), "application/json; charset=utf-7"],
  ])("does not record a body in %s, and marks it", (_, body, type) =>
    expect(redaction.body({ bytes: body, type })).toEqual({
      truncated: true,
      bytes: body.length,
      text: "",
      why: "not UTF-8",
    }),
  );
});

describe("a value with a secret name", () => {
  const nothing = { path: "/v4/x", isRoute: true, query: "", texts: [] };
  const sentIn = (body: object) => ({ ...nothing, body: { bytes: bytes(JSON.stringify(body)) } });
  const odd = 'a "quoted" & %-encoded\\ välue';

  test.each([
    ["a body", sentIn({ a: [{ password: SECRET }] })],
    ["a list in a body", sentIn({ token: { x: ["other", SECRET] } })],
    ["JSON in a body", sentIn({ s: JSON.stringify({ cvv: SECRET }) })],
    ["JSON under a secret name", sentIn({ password: JSON.stringify({ cvv: SECRET }) })],
    ["URL in a body", sentIn({ s: `https://me:${SECRET}@host` })],
    ["a form", { ...nothing, body: { bytes: bytes(`token=${SECRET}`), type: FORM } }],
    ["members of a form", { ...nothing, body: { bytes: bytes("…"), form: [["token", SECRET]] as const } }],
    ["a query", { ...nothing, query: `a=1&token=${SECRET}` }],
    ["a path", { ...nothing, path: `/token/${SECRET}`, isRoute: false }],
    ["a header", { ...nothing, texts: [undefined, `{"token":"${SECRET}"}`] }],
    ["a cut body", { ...nothing, body: { bytes: bytes(`{"token":"${SECRET}","a`) } }],
    ["text", { ...nothing, body: { bytes: bytes(`token: ${SECRET}\n`) } }],
  ])("of %s is replaced everywhere in the exchange", (_, sent) => {
    const values = redaction.search.find(sent);
    const text = `Wrong ${SECRET}.`;
    expect(redaction.text(text, values)).toBe("Wrong [redacted].");
    expect(redaction.json(Buffer.from(JSON.stringify({ text, [SECRET]: 1 })), values)).toEqual({
      text: "Wrong [redacted].",
      "[redacted]": 1,
    });
    expect(redaction.path(`/x/${SECRET}`, true, values)).toBe("/x/[redacted]");
    expect(redaction.query(`x=${SECRET}`, values)).toBe("x=[redacted]");
    expect(values.redact(text)).toBe("Wrong [redacted].");
  });

  test.each([
    ["twice", `{"password":"${SECRET}","password":"other-value"}`],
    ["three times, in other spellings", `{"password":1,"pass\\u0077ord":"${SECRET}","password":null}`],
    ["in an object that the object has twice", `{"a":{"password":"${SECRET}"},"a":{"b":1}}`],
    ["behind the name of a secret that is replaced", `{"name":"password","name":"x","value":"${SECRET}"}`],
    ["as one of two values", `{"name":"password","value":"${SECRET}","value":"other-value"}`],
    ["in JSON in a text", JSON.stringify({ data: `[{"a":{"password":"${SECRET}"},"a":{"b":1}}]` })],
    ["with nothing in its place", JSON.stringify({ data: `{"password":"${SECRET}","password":null}` })],
  ])("is found if an object has it %s, in a request and in a response", (_, body) => {
    const values = redaction.search.find({ ...nothing, body: { bytes: bytes(body) } });
    expect(redaction.text(`Wrong ${SECRET}.`, values)).toBe("Wrong [redacted].");
    const added = redaction.search.find(nothing);
    redaction.search.addFromBody(Buffer.from(body), added);
    expect(redaction.text(`Wrong ${SECRET}.`, added)).toBe("Wrong [redacted].");
    const recorded = [redaction.raw(body), redaction.json(Buffer.from(body)), redaction.text(body)];
    expect(JSON.stringify(recorded)).not.toContain(SECRET);
  });

  test.each([
    ["Summer%2FTango99Kilo", "Summer%2FTango99Kilo password: no"],
    ["CorrectHorseBattery7-token=1", "Wrong CorrectHorseBattery7-token=1 here"],
    ["CorrectHorseBattery7-token=1", "CorrectHorseBattery7-token=1 token: x"],
    ["Alpha77&password=Beta88", "the Alpha77&password=Beta88 was refused"],
    ['Alpha77"token":"Beta88', 'x Alpha77"token":"Beta88 y'],
    ["Alpha77%3Dtoken%3DBeta88", "Alpha77%3Dtoken%3DBeta88, token=x"],
    ["4b7a6b5c4d3e2f1a9b8c-token", "agent 4b7a6b5c4d3e2f1a9b8c-token: x"],
    ["4b7a6b5c4d3e2f1a9b8c-token", "4b7a6b5c4d3e2f1a9b8c-token is not 4b7a6b5c4d3e2f1a9b8c-token: x"],
    ["https://u:Alpha77@Beta88", "see https://u:Alpha77@Beta88 token=1"],
  ])("%s is not left in part where a name is in it or behind it", (secret, text) => {
    const values = redaction.search.find(sentIn({ password: secret }));
    const recorded = [
      redaction.text(text, values),
      redaction.query(`a=1&x=${text}`, values),
      redaction.query(text.replaceAll(" ", "+"), values),
      redaction.path(`/v4/${text}`, false, values),
      redaction.json(Buffer.from(JSON.stringify({ reason: text, [text]: 1 })), values),
    ].map((each) => JSON.stringify(each));
    for (const each of recorded)
      expect(each).not.toMatch(/Summer|Tango|Correct|Battery|Alpha77|Beta88|4b7a6b/);
  });

  test("that is a part of a name does not hide the name", () => {
    const values = redaction.search.find(sentIn({ password: "passw" }));
    const text = "x password: other-secret";
    expect(
      JSON.stringify([redaction.text(text, values), redaction.query("passwordx=other-secret", values)]),
    ).not.toContain("other-secret");
  });

  const AS_NAME = [
    `{"client_id":"app","client_secret":"${SECRET}","code":"x"}`,
    `{"root_pass":"${SECRET}==x",}`,
    `client_id: app, client_secret: ${SECRET}`,
    `client_secret%3D${SECRET}`,
    `<client_secret>${SECRET}</client_secret>`,
  ];
  test.each(AS_NAME)("in the name of a member is found, and not recorded: %s", (text) => {
    const form = [...new URLSearchParams(text)];
    const bodies: SentBody[] = [
      { bytes: bytes(text), type: FORM },
      { bytes: bytes(text), form },
      ...(text.startsWith("{") ? [{ bytes: bytes(JSON.stringify({ [text]: 1 })) }] : []),
    ];
    for (const body of bodies) {
      const values = redaction.search.find({ ...nothing, body });
      expect(JSON.stringify(redaction.body(body, values))).not.toContain(SECRET);
      expect(redaction.text(`Wrong ${SECRET}.`, values)).not.toContain(SECRET);
    }
  });

  test("is replaced in all its spellings", () => {
    const values = redaction.search.find(sentIn({ password: odd }));
    const spelt = [
      odd,
      JSON.stringify(odd),
      encodeURIComponent(odd),
      new URLSearchParams({ "": odd }).toString().slice(1),
    ];
    for (const text of spelt) expect(values.redact(`<${text}>`)).toMatch(/^<"?\[redacted\]"?>$/);
  });

  test.each(["&amp;Kx&lt;&quot;&#39;", "&amp;Kx&lt;&#34;&#39;", "&amp;Kx&lt;&quot;&#x27;", `&amp;Kx&lt;"'`])(
    "is replaced as HTML spells it: %s",
    (spelt) => {
      const values = redaction.search.find(sentIn({ password: `&Kx<"'` }));
      expect(values.redact(`The password ${spelt} is wrong.`)).toBe("The password [redacted] is wrong.");
    },
  );

  test("is replaced as a number, and so is a token", () => {
    const values = redaction.search.find(sentIn({ cvv: 737, card_number: 4_111_111_111_111_111 }), [
      "some-token",
    ]);
    const recorded = redaction.value(
      { a: 737, b: 7370, c: "is 737", d: "x-4111111111111111", e: "some-token" },
      0,
      values,
    );
    expect(recorded).toEqual({
      a: "[redacted]",
      b: 7370,
      c: "is [redacted]",
      d: "x-[redacted]",
      e: "[redacted]",
    });
  });

  test.each([0, 1, 2])(
    "is found in a body if it has characters of several bytes, behind %i others",
    (before) => {
      const secret = `${"x".repeat(before)}${"\u{1f511}é".repeat(30)}`;
      const values = redaction.search.find(sentIn({ password: secret }));
      const body = Buffer.from(JSON.stringify({ note: `is ${secret}.` }));
      expect(redaction.json(body, values)).toEqual({ note: "is [redacted]." });
    },
  );

  test.each([0, 1, 30, 31])("is searched for in a body if it is not well-formed at %i", (at) => {
    const values = redaction.search.find(
      sentIn({ password: `${"x".repeat(at)}\ud800${"x".repeat(40 - at)}` }),
    );
    expect(redaction.json(Buffer.from('{"a":"x"}'), values)).toMatchObject({ text: '{"a":"x"}' });
  });

  test.each(["\ude00secret-value", "secret-\ud800value", "secret-value\ud83d"])(
    "is found where half a character in it was replaced: %j",
    (secret) => {
      const values = redaction.search.find(sentIn({ password: secret }));
      const body = Buffer.from(JSON.stringify({ note: secret.toWellFormed() }));
      expect(redaction.json(body, values)).toEqual({ note: "[redacted]" });
    },
  );

  test("is found at every place of a body, and nothing else is taken for it", () => {
    const value = fc.stringMatching(/^[0-9a-f]{3,60}$/);
    const parts = fc.array(fc.tuple(fc.nat(70), fc.nat(70)), { maxLength: 80 });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 4 }),
        fc.nat(3),
        parts,
        fc.nat(80),
        (...given) => {
          const [secrets, which, ranges, place] = given;
          const secret = secrets[which % secrets.length] ?? "";
          const values = redaction.search.find(sentIn({ password: secrets }));
          // Parts of the value, so that much of the body looks like it.
          const texts = ranges.map(([from, length]) => secret.slice(from, from + length));
          const clean = JSON.stringify(
            texts.map((text) => (secrets.some((each) => text.includes(each)) ? "" : text)),
          );
          const body = JSON.stringify(texts.toSpliced(place, 0, `~${secret}~`));
          expect(redaction.json(Buffer.from(clean), values)).toBeInstanceOf(JsonText);
          expect(JSON.stringify(redaction.json(Buffer.from(body), values))).not.toContain(`~${secret}~`);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("is not left in part at the cut of a body", () => {
    for (let at = 60; at < 110; at += 1) {
      const values = small.search.find(sentIn({ password: SECRET }));
      const text = "x".repeat(at) + SECRET;
      for (const recorded of [
        small.json(Buffer.from(JSON.stringify([text])), values),
        small.raw(text, values),
        small.text(text, values),
      ])
        expect(JSON.stringify(recorded)).not.toContain("S3C");
    }
  });

  test("if there are more of them than can be searched, nothing else of the exchange is recorded", () => {
    const values = redaction.search.find(
      sentIn({ token: Array.from({ length: 1000 }, (_, n) => `value-${n}`) }),
    );
    expect(values.isComplete).toBe(false);
    expect(redaction.text("x", values)).toBe("[redacted]");
    expect(redaction.json(Buffer.from("{}"), values)).toMatchObject({
      truncated: true,
      text: "",
      why: "more secrets than can be searched for",
    });
    expect(redaction.body({ bytes: bytes("{}") }, values)).toMatchObject({ truncated: true, text: "" });
  });
});

describe("values with many spellings", () => {
  test("are limited in length, so that a request full of quotes is cheap: nothing else is recorded", () => {
    expect(redaction.search.find({}, ["'".repeat(40_000)]).isComplete).toBe(false);
    expect(redaction.search.find({}, ["a".repeat(40_000)]).isComplete).toBe(true);
  });

  test("count once, even if a token occurs in several places of a head", () => {
    const token = "'".repeat(20_000);
    const values = redaction.search.find({}, [token, token, token]);
    expect(values.isComplete).toBe(true);
    expect(redaction.text(`echo ${token}`, values)).toBe("echo [redacted]");
  });
});

describe("redaction takes linear time", () => {
  const shapes: [string, (length: number) => string][] = [
    ["backslashes", (n) => "\\".repeat(n)],
    ["slashes", (n) => "/".repeat(n)],
    ["slashes and backslashes", (n) => "\\/".repeat(n / 2)],
    ["user infos", (n) => "//a:b".repeat(n / 5)],
    ["at signs", (n) => `//${"@".repeat(n)}`],
    ["equals signs", (n) => "=".repeat(n)],
    ["pairs in pairs", (n) => "a=".repeat(n / 2)],
    ["percent signs", (n) => "%".repeat(n)],
    ["encoded percent signs", (n) => `%${"25".repeat(n / 2)}41=x`],
    ["blanks in a name", (n) => `p${" ".repeat(n)}:`],
    ["dashes in names", (n) => "pass-".repeat(n / 5)],
    ["names", (n) => "password".repeat(n / 8)],
    ["blanks", (n) => " ".repeat(n)],
    ["brackets", (n) => "[".repeat(n)],
    ["quotation marks", (n) => '"'.repeat(n)],
    ["escapes", (n) => "\\u".repeat(n / 2)],
    ["unseen letters", (n) => "p\u200b".repeat(n / 2)],
    ["ampersands", (n) => "&token".repeat(n / 6)],
    [
      "short members",
      (n) => JSON.stringify(Object.fromEntries(Array.from({ length: n / 8 }, (_, at) => [`m${at}`, 1]))),
    ],
    [
      "members that are values",
      (n) =>
        JSON.stringify(
          Object.fromEntries(Array.from({ length: n / 60 }, (_, at) => [`value[${at}]`, "x".repeat(40)])),
        ),
    ],
    ["the beginning of a value", (n) => "a".repeat(n)],
    ["values with a name behind them", (n) => `Qz7-secret: ${"Qz7w9-token=1 ".repeat(n / 14)}`],
    ["texts that look like JSON", (n) => JSON.stringify(Array.from({ length: n / 8 }, () => "{a=:"))],
  ];
  const large = new Redaction({ names, bodyLimit: 10_000_000 });
  const values = large.search.find({
    path: "",
    isRoute: true,
    query: "",
    texts: [],
    body: {
      bytes: bytes(
        JSON.stringify({
          token: [
            ...Array.from({ length: 100 }, (_, n) => `${"a".repeat(40 + n)}b${n}`),
            "Qz7w9",
            "Qz7w9-token=1",
          ],
        }),
      ),
    },
  });

  const token = large.search.find({ path: "", isRoute: true, query: "", texts: [] }, [`${"a".repeat(31)}b`]);

  const works: [string, (text: string) => unknown][] = [
    ["text", (text) => large.text(text)],
    ["query", (text) => large.query(text)],
    ["path", (text) => large.path(text, false)],
    ["raw", (text) => large.raw(text)],
    ["value", (text) => large.value({ [text]: text })],
    ["json", (text) => large.json(Buffer.from(JSON.stringify(text)))],
    ["a form", (text) => large.body({ bytes: bytes(text), type: FORM })],
    [
      "find",
      (text) =>
        large.search.find({
          path: text,
          isRoute: false,
          query: text,
          texts: [text],
          body: { bytes: bytes(text) },
        }),
    ],
    ["values", (text) => large.raw(text, values)],
    ["a token", (text) => large.json(Buffer.from(JSON.stringify(text)), token)],
  ];

  test.each(works)(
    "for %s",
    (_, work) => {
      const quadratic = shapes.filter(([, make]) => !isLinear(work, make, 160_000));
      expect(quadratic.map(([shape]) => shape)).toEqual([]);
    },
    60_000,
  );
});

describe("what redaction remembers of names and texts does not keep the texts that they are from", () => {
  const from = new Redaction({ names, bodyLimit: 262_144 });
  const rest = "x".repeat(200_000);
  let last = 0;
  const inText = (n: number) => `password=a&a-name-with-the-number-${n}=b&${rest}`;
  /** It has all letters of a secret name, but no secret name. */
  const harmless = (n: number) => `/cotkenvpasd-${n}?${rest}`;

  test.each<[string, (n: number) => unknown]>([
    ["the names in a text", (n) => from.raw(inText(n))],
    ["the names in a string of a body", (n) => from.value({ note: inText(n) })],
    ["the names in a query", (n) => from.query(inText(n))],
    ["a part of a text without a secret name", (n) => from.text(harmless(n).split("?", 1)[0] ?? "")],
  ])("%s", (_, redact) => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 300; n += 1) redact((last += 1));
    collectGarbage();
    // All texts have 60 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
  });
});

describe("the redaction of a request allocates at most 20 MB", () => {
  const atDefaultLimit = new Redaction({ names, bodyLimit: 262_144 });
  const target = { path: "/v4/x", isRoute: true, query: "", texts: [] };
  const pack = (value: unknown) => ({ bytes: bytes(JSON.stringify(value)), type: "application/json" });
  const secret = { password: "a1b2c3" };
  const alike = Array.from({ length: 100 }, (_, n) => `${"a".repeat(40 + n)}b${n}`);

  const units =
    "=a; a=a= token=a; ,[%25 [%25; %C3%A9a; \\u0041= \\u0430= %2561=; //@ {a=: =token; a+a; name=pin;value=a; é=1; ﷺ=1; = ; a [";
  const requests: [string, (unit: string) => SentBody][] = [
    [
      "a form",
      (unit) => ({ bytes: bytes("…"), type: FORM, form: [["", `token=a;${filled(unit, 65_000)}`]] }),
    ],
    ["a string of a body", (unit) => pack({ label: filled(unit, 80_000), ...secret })],
    ["JSON in a string", (unit) => pack({ label: JSON.stringify({ a: filled(unit, 100_000), ...secret }) })],
    ["a list of strings", (unit) => pack({ label: Array.from({ length: 7800 }, () => unit), ...secret })],
    [
      "a string, with secrets that start alike",
      (unit) => pack({ label: filled(unit, 100_000), token: alike }),
    ],
  ];

  test.each(requests)("%s", (_, sent) => {
    function measure(unit: string): number {
      const body = sent(unit);
      const stop = countAllocations();
      const values = atDefaultLimit.search.find({ ...target, body }, ["0123456789abcdef"]);
      atDefaultLimit.body(body, values);
      return stop().mb;
    }
    // What V8 allocates itself, such as compiled code, is only in some of the measurements.
    const leastOf = (unit: string): number => Math.min(...Array.from({ length: 3 }, () => measure(unit)));
    const costs = units.split(" ").map((unit) => ({ unit, mb: leastOf(unit) }));
    expect(costs.filter(({ mb }) => mb > 20)).toEqual([]);
  });
});

describe("a text that would take too much work", () => {
  const parts = `${"a=1;".repeat(4000)}password=${SECRET}`;
  const target = { path: "/v4/x", isRoute: true, query: "", texts: [] };

  test.each([
    ["a body", { ...target, body: { bytes: bytes(JSON.stringify({ a: parts })) } }],
    ["a form", { ...target, body: { bytes: bytes("…"), form: [["a", parts]] as const } }],
    ["a query", { ...target, query: parts }],
    ["a header", { ...target, texts: [parts] }],
  ])("in %s is not recorded, nor is any text that may repeat its secrets", (_, sent) => {
    const values = redaction.search.find(sent);
    expect(redaction.query(parts)).toBe("[redacted]");
    expect(redaction.value({ a: parts, b: "c" })).toEqual({ a: "[redacted]", b: "c" });
    expect(values.isComplete).toBe(false);
    expect(redaction.text(`echo ${SECRET}`, values)).toBe("[redacted]");
  });

  test.each([
    ["names in many texts", Array.from({ length: 2500 }, () => "note: the token: abcdef\n")],
    ["names in one text", "note: the token: abcdef\n".repeat(2000)],
    ["names of members", Object.fromEntries(Array.from({ length: 4500 }, (_, n) => [`a: ${n}`, "b"]))],
    ["members with one value", Array.from({ length: 1100 }, () => ({ token: "abcdef" }))],
    ["characters", `${"x: ".repeat(200_000)}token: abcdef`],
    ["characters in nested texts", nested(`token: abcdef ${"x: ".repeat(40_000)}`, 5)],
    [
      "comparisons",
      { token: Array.from({ length: 6 }, (_, n) => `${"a".repeat(31 - n)}b`), note: "a".repeat(240_000) },
    ],
  ])("because of too many %s says so, and nothing of the exchange is recorded", (_, value) => {
    const atDefaultLimit = new Redaction({ names, bodyLimit: 1 << 20 });
    const body = {
      bytes: bytes(JSON.stringify({ value, password: SECRET })),
      type: "application/json",
    };
    const values = atDefaultLimit.search.find({ ...target, body });
    atDefaultLimit.json(Buffer.from(body.bytes), values);
    expect(values.whyIncomplete).toMatch(/more secrets than can be searched for|too many names of secrets/);
    const recorded = [
      atDefaultLimit.json(Buffer.from(body.bytes), values),
      atDefaultLimit.body(body, values),
      atDefaultLimit.start(body.bytes, 1 << 21, values),
    ];
    for (const each of recorded)
      expect(each).toMatchObject({ truncated: true, text: "", why: values.whyIncomplete });
    expect(atDefaultLimit.text(`echo ${SECRET}`, values)).toBe("[redacted]");
  });

  test("is recorded if it has no name of a secret", () => {
    const harmless = "a=1;".repeat(4000);
    expect(redaction.value({ a: harmless })).toEqual({ a: harmless });
  });
});

describe("redaction of a body above the limit", () => {
  test("truncates it and marks it", () => {
    const recorded = small.value({ list: Array.from({ length: 100 }, () => "0123456789") }, 1312);
    expect(recorded).toMatchObject({ truncated: true, bytes: 1312 });
    expect((recorded as { text: string }).text).toMatch(/^\{"list":\["0123456789","/);
    expect(Buffer.byteLength((recorded as { text: string }).text)).toBeLessThanOrEqual(100);
  });

  test("truncates text by bytes, between characters", () =>
    expect(small.raw("€".repeat(50))).toEqual({ truncated: true, bytes: 150, text: "€".repeat(33) }));

  describe.each([
    ["of many members", Array.from({ length: 40_000 }, (_, n) => `"k${n}":1`).join(",")],
    ["of many items", `"a":[${"1,".repeat(40_000)}1]`],
    ["with such JSON in a string", `"a":${JSON.stringify(`{"b":[${"1,".repeat(40_000)}1]}`)}`],
    ["of a megabyte", `"a":"${"x".repeat(1024 * 1024)}"`],
  ])("%s, above the read limit", (_, members) => {
    test.each([
      ["at its beginning", `{"root_pass":"${SECRET}",${members}}`],
      ["at its end", `{${members},"root_pass":"${SECRET}"}`],
    ])("with a secret %s is truncated as text, and not parsed", (_place, text) => {
      const parse = jest.spyOn(JSON, "parse");
      try {
        const body = { bytes: bytes(text), type: "application/json" };
        const values = redaction.search.find({ path: "/", isRoute: true, query: "", texts: [], body });
        const recordedForms = [
          redaction.raw(text),
          redaction.json(Buffer.from(text)),
          redaction.body(body, values),
        ];
        expect(recordedForms.map((recorded) => (recorded as { truncated: boolean }).truncated)).toEqual([
          true,
          true,
          true,
        ]);
        expect(JSON.stringify([...recordedForms, redaction.text(`echo ${SECRET}`, values)])).not.toContain(
          "S3CR3T",
        );
        const read = parse.mock.calls.map(([given]) => given.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").split(","));
        expect(Math.max(0, ...read.map((values) => values.length))).toBeLessThanOrEqual(8000);
        expect(Math.max(0, ...parse.mock.calls.map(([given]) => given.length))).toBeLessThanOrEqual(1 << 20);
      } finally {
        parse.mockRestore();
      }
    });
  });

  const filler = `"filler":"${"x".repeat(200)}"`;
  test.each([
    ["an object", `{"value":"${SECRET}",${filler},"name":"password"}`],
    ["a list above it", `{"rows":[{"value":1}],"value":"${SECRET}",${filler},"key":"cvv"}`],
    ["a list in it", `{"value":["${SECRET}"],"rows":[{${filler}}],"field":"password"}`],
    ["an escaped member", `{"\\u0076alue":"${SECRET}",${filler},"parameter":"password"}`],
    ["JSON in a string", JSON.stringify({ s: `{"value":"${SECRET}",${filler},"name":"password"}` })],
    ["too much JSON", `{"value":"${SECRET}","list":[${"1,".repeat(9000)}1],"name":"password"}`],
    ["a form in a string", JSON.stringify({ s: `value=${SECRET}&${"x=y&".repeat(50)}name=password` })],
    [
      "a value across the cut",
      `{"a":"${"x".repeat(70)}","value":"${SECRET}${"x".repeat(100)}","name":"password"}`,
    ],
  ])("redacts a value whose name is behind the cut: %s", (_, text) => {
    const recordedForms = [
      small.json(Buffer.from(text)),
      small.raw(text),
      small.value(JSON.parse(text)),
      small.text(text),
    ];
    expect(JSON.stringify(recordedForms)).not.toContain("S3C");
    const body = { bytes: bytes(text), type: "application/json" };
    expect(JSON.stringify(small.body(body))).not.toContain("S3C");
  });

  test("keeps a value whose object ends before the cut, or has no secret name", () => {
    const text = `{"rows":[{"name":"size","value":"large"}],${filler}}`;
    expect(JSON.stringify(small.json(Buffer.from(text)))).toContain("large");
    expect(JSON.stringify(small.json(Buffer.from(`{"value":"large",${filler},"name":"size"}`)))).toContain(
      "large",
    );
  });

  test("keeps a body of exactly the limit", () => {
    const body = "x".repeat(98);
    expect(small.value(body)).toBe(body);
  });
});

describe("redaction of hostile bodies", () => {
  test("keeps a member named __proto__", () => {
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
  ])("does not throw for %s", (_, body) => expect(() => redaction.value(body)).not.toThrow());

  test.each([
    "a".repeat(500_000),
    "=".repeat(500_000),
    "p_".repeat(250_000),
    "\\u".repeat(250_000),
    "%22".repeat(200_000),
  ])("takes linear time for long texts", (text) =>
    expect(JSON.stringify(redaction.raw(`${text}:`)).length).toBeLessThan(120_000),
  );

  test("keeps the digits of large numbers", () =>
    expect(printJson(redaction.value(parseJson('{"n":12345678901234567890}')))).toBe(
      '{"n":12345678901234567890}',
    ));
});

describe("redaction of arbitrary bodies", () => {
  const secretName = fc
    .tuple(
      fc.constantFrom(...names.map((name) => name.replaceAll("*", ""))),
      fc.constantFrom("", "-", "_"),
      fc.boolean(),
    )
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

  test("leaves no planted secret in the record, and does not change the body", () => {
    fc.assert(
      fc.property(planted, fc.constantFrom(redaction, small), (body, { value }) => {
        const before = JSON.stringify(body);
        expect(JSON.stringify(value(body))).not.toContain("S3CR3T");
        expect(JSON.stringify(body)).toBe(before);
      }),
    );
  });

  test("leaves none in valid JSON as text, in any spelling", () => {
    const text = fc.tuple(planted, fc.nat(4)).map(([body, spaces]) => JSON.stringify(body, null, spaces));
    fc.assert(
      fc.property(text, fc.constantFrom(redaction, small), (body, { json }) => {
        expect(JSON.stringify(json(Buffer.from(body)))).not.toContain("S3CR3T");
      }),
    );
  });

  test("gives the same record for text and for parsed JSON", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), planted), (body) => {
        const text = JSON.stringify(body);
        expect(JSON.stringify(redaction.json(Buffer.from(text)))).toBe(JSON.stringify(redaction.raw(text)));
        expect(JSON.stringify(small.json(Buffer.from(text)))).toBe(JSON.stringify(small.raw(text)));
      }),
    );
  });

  test("leaves none if only the beginning is read, at any length", () => {
    fc.assert(
      fc.property(planted, fc.nat(400), fc.constantFrom(redaction, small), (body, length, each) => {
        const beginning = JSON.stringify(body).slice(0, length);
        expect(JSON.stringify(each.raw(beginning) ?? "")).not.toContain("S3CR3T");
        expect(each.text(beginning)).not.toContain("S3CR3T");
      }),
    );
  });

  test("leaves none in a query", () => {
    fc.assert(
      fc.property(secretName, fc.dictionary(fc.string(), fc.string()), (name, others) => {
        const form = new URLSearchParams([...Object.entries(others), [name, SECRET]]).toString();
        expect(redaction.query(form)).not.toContain("S3CR3T");
        expect(redaction.query(`/path?${form}`)).not.toContain("S3CR3T");
      }),
    );
  });
});

/** A text as JSON in a text, several times. */
function nested(text: string, times: number): string {
  return times === 0 ? text : nested(JSON.stringify({ a: text }), times - 1);
}

const filled = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length));

function cyclic(): object {
  const list: unknown[] = [];
  list.push(list, list);
  return list;
}
