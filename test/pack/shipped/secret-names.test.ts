/** Which members the pack calls secret, and which it must not. */
import { describe, expect, test } from "@jest/globals";
import { Redaction } from "../../../src/audit/redact/redact.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("mappings");
const redaction = new Redaction({ names: pack.secretNames, bodyLimit: 65_536 });
const S = "s3cr3t-value";

test.each(
  `access_token refresh_token id_token auth_token api_token oauth_token session_token lish_token x-auth-token tokens
  token pass pwd passwd password passwörd pаssword pαssword ΡΑSSWORD tоkеn access_key otp pin cvc cvv security_code
  scratch scratch_codes jwt session cookie cookies credential credentials kubeconfig ＩＤ＿ＴＯＫＥＮ`.split(
    /\s+/,
  ),
)("%s is redacted", (name) => {
  const values = redaction.search.find({
    path: "",
    isRoute: false,
    query: "",
    texts: [`{"${name}":"${S}"}`],
  });
  expect(redaction.value({ [name]: S })).toEqual({ [name]: "[redacted]" });
  expect(redaction.json(Buffer.from(JSON.stringify({ [name]: S, n: 1 })))).toEqual({
    [name]: "[redacted]",
    n: 1,
  });
  expect(redaction.query(`page=1&${encodeURIComponent(name)}=${S}`)).not.toContain(S);
  expect(values.redact(S)).toBe("[redacted]");
});

test.each(["tokens", "credentials"])(
  "of the list %s objects and numbers are recorded, strings are redacted",
  (name) => {
    const value = { [name]: [{ id: 1, label: "x" }, 9991, S], total: 1 };
    expect(redaction.json(Buffer.from(JSON.stringify(value)))).toEqual({
      [name]: [{ id: 1, label: "x" }, 9991, "[redacted]"],
      total: 1,
    });
  },
);

test("the pack redacts no list as a whole", () => {
  for (const { list } of pack.resources.values()) {
    if (list === undefined) continue;
    expect(JSON.parse(JSON.stringify(redaction.value({ [list]: [{ id: 1 }] })))).toEqual({
      [list]: [{ id: 1 }],
    });
  }
});

test.each([
  { token_type: "bearer" },
  { token_type_hint: "access_token" },
  { scopes: "tokens:view vm:view" },
  { check_passive: true, action: "token_create", passive: 1, pinned: true, sessions: 2, spin: 1 },
])("%o is recorded", (value) => {
  expect(JSON.parse(JSON.stringify(redaction.json(Buffer.from(JSON.stringify(value)))))).toEqual(value);
});

describe("a secret next to its name", () => {
  test.each(["name", "key", "field", "parameter"])("as the value of a %s", (naming) => {
    const text = JSON.stringify([{ value: S, [naming]: "root_pass", type: "x" }]);
    expect(redaction.json(Buffer.from(text))).toEqual([
      { value: "[redacted]", [naming]: "root_pass", type: "x" },
    ]);
    const values = redaction.search.find({
      path: "",
      isRoute: false,
      query: "",
      texts: [],
      body: { bytes: Buffer.from(text) },
    });
    expect(values.redact(`<${S}>`)).toBe("<[redacted]>");
  });

  test.each([
    ["behind a tab", `label\tweb\nroot_pass\t${S}\n`],
    ["behind an encoded name", `form-data; name*=utf-8''root%5Fpass\r\n\r\n${S}`],
    ["behind an encoded name with a language", `form-data; name*=UTF-8'en-us'root%5Fpass\r\n\r\n${S}`],
    ["behind an encoded name with a Cyrillic letter", `x; name*=utf-8''root%5Fp%D0%B0ss\r\n\r\n${S}`],
    ["behind an encoded name with an invalid byte", `p%61ss%FFword: ${S}`],
    ["behind an encoded name with half a character", `p%61ss\ud83dword: ${S}`],
    ["behind a name with a tab in it", `pass\tword: ${S}`],
  ])("in a text, %s", (_, text) => expect(JSON.stringify(redaction.raw(text))).not.toContain(S));
});
