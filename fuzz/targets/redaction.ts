/** A secret somewhere in a request, with any text around it: the audit record of the exchange never contains it. */
import { Redaction } from "../../src/audit/redact/redact.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { hold, type Target } from "../target.ts";

const {
  secretNames: secrets,
  dialect: { client },
} = loadPack("mappings");
/** Without the exceptions, and without names whose objects are not secret. */
const names = secrets
  .filter((name) => !/^!|\[\]$/.test(name))
  .map((name) => name.replaceAll("*", "").replaceAll(/^_|_$/g, ""));
const SECRET = "Pl4nted-s3cret.Value";
const TOKEN = "planted-token-0123456789";
/** A small limit, so that some bodies are truncated at any point. */
const redactions = [60, 16_384].map((bodyLimit) => new Redaction({ names: secrets, bodyLimit }));
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** The parts of a request that contain the secret, with `text` around it. */
function places(name: string, text: string) {
  const member = { [text]: text, [name]: SECRET, around: [text, { [name]: { deeper: [SECRET] } }] };
  const pair = `${encoded(text)}=${encoded(text)}&${name}=${encoded(SECRET)}&b=${encoded(text)}`;
  const json = { type: "application/json" };
  const form = { type: "application/x-www-form-urlencoded" };
  const request = { path: "/", isRoute: true, query: "", texts: [] as string[] };
  return {
    "a body": { ...request, body: { ...json, bytes: Buffer.from(JSON.stringify(member)) } },
    "JSON in a body": {
      ...request,
      body: { ...json, bytes: Buffer.from(JSON.stringify({ [text]: JSON.stringify(member) })) },
    },
    "a form": { ...request, body: { ...form, bytes: Buffer.from(pair) } },
    "a form with files": {
      ...request,
      body: {
        type: "multipart/form-data; boundary=x",
        bytes: Buffer.from(pair),
        form: Object.entries({ [text]: text, [name]: SECRET }),
      },
    },
    "a query": { ...request, query: pair },
    [client.filters?.header ?? ""]: { ...request, texts: [JSON.stringify(member)] },
    "a path": { ...request, isRoute: false, path: `/${encoded(text)}/${name}/${encoded(SECRET)}` },
  };
}

export const target: Target = {
  name: "redaction",
  subject: "A secret in a request, with any text around it, recorded",
  covers: ["/src/audit/"],
  longest: 3000,
  seeds: [
    "",
    "label",
    "a=b&c=d",
    '{"a":[1,"x"]}',
    "https://user@example.com/x?y=z",
    "%7B%22a%22",
    "\\u0061\\\\",
    "ﬁ\u0301\u200b",
  ],
  dictionary: [
    ...names.flatMap((name) => [name, `"${name}":`, `${name}=`]),
    "\\u00",
    "%25",
    "://",
    "@",
    "[{",
    '\\"',
    "\u0000",
    "\ud800",
  ],
  run(input) {
    const name = names[input.length % names.length] ?? "";
    for (const redaction of redactions) {
      for (const [place, sent] of Object.entries(places(name, input))) {
        const values = redaction.search.find(sent, [TOKEN]);
        const said = [`${input}${SECRET}`, `${SECRET} ${input}`, encoded(SECRET), TOKEN];
        const recorded = [
          "body" in sent && redaction.body(sent.body, values),
          redaction.path(sent.path, sent.isRoute, values),
          redaction.query(sent.query, values),
          ...sent.texts.map((text) => redaction.text(text, values)),
          ...said.map((text) => redaction.text(text, values)),
          redaction.json(Buffer.from(JSON.stringify({ errors: said })), values),
          // A secret of v4: no value of the request helps to find it, and its name may have been truncated.
          redaction.json(Buffer.from(JSON.stringify({ value: SECRET, [input]: input, name }))),
          redaction.value({ [input]: said }, undefined, values),
          ...said.map((text) => values.redact(text)),
        ];
        const text = JSON.stringify(recorded);
        hold(`a secret in ${place} is in no part of the record`, !text.includes(SECRET));
        hold("a token is in no part of the record", !text.includes(TOKEN));
      }
    }
  },
};
