/** A pack for another pair of APIs: nothing that people read names the pair of the included pack. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { json } from "../../support/fake-v4.ts";

/** Names of the included pack. */
const OTHER_NAMES = /\b(?:alpha|v4)\b/i;

let gateway: GatewayWithFakeV4;
beforeEach(async () => {
  gateway = await startGatewayWithFakeV4({ ...RECORDING, MAPPINGS_DIR: "examples/shop/pack" });
});

const send = (call: string, body?: object) => gateway.request(call.replace(" ", " /"), { as: null, body });

describe("warnings of a request name the upstream as the pack does", () => {
  test.each<[string, Parameters<GatewayWithFakeV4["v4"]["respondWith"]>[0], string]>([
    ["an error", json(428, { detail: "Closed" }), "new shop responded with 428"],
    ["no response", (_call, response) => void response.destroy(), "new shop GET /api/customers/3: truncated"],
    ["a response that is not an object", json(200, []), "the response is not a JSON object"],
  ])("%s", async (_what, respond, warning) => {
    gateway.v4.respondWith(respond);
    await send("GET /customers/3?api_key=t-1");
    const { warnings } = await gateway.readLastRecord();
    expect(warnings.join("\n")).toContain(warning);
    expect(warnings.join("\n")).not.toMatch(OTHER_NAMES);
  });

  test("a list of another shape", async () => {
    gateway.v4.respondWith(json(200, { rows: [] }));
    await send("GET /customers?api_key=t-1");
    const { warnings } = await gateway.readLastRecord();
    expect(warnings).toEqual(["the response is not a list of the pack's shape"]);
  });
});

test("the migration report names both sides as the pack does", async () => {
  gateway.v4.respondWith(json(200, { id: 3, name: "Ada", address: { city: "Bath" } }));
  await send("GET /customers/3?api_key=t-1");
  for (const format of ["html", "md"]) {
    const { text } = await gateway.requestAdmin(`GET /api/report?format=${format}`);
    expect(text).toContain("Migration report: from old shop to new shop");
    expect(text.replaceAll(/<style>.*?<\/style>|class="\w+"/gs, "")).not.toMatch(OTHER_NAMES);
  }
});

/** What code consists of, as far as it matters here: comments, strings, marks of templates, and other characters. */
const IN_CODE = /\/\*[^]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^]/y;
const IN_TEMPLATE = /\$\{|\\[^]|[^]/y;

/** The texts of strings and templates of a script, those inside of each other too. Comments have none. */
function literalsOf(script: string): string[] {
  const texts: string[] = [];
  /** The templates that are open: the text so far, and the braces that are open in the code inside of it. */
  const open: { text: string; braces: number }[] = [];
  for (let at = 0; at < script.length;) {
    const template = open.at(-1);
    const isText = template?.braces === 0;
    const tokens = isText ? IN_TEMPLATE : IN_CODE;
    tokens.lastIndex = at;
    const [token = ""] = tokens.exec(script) ?? [];
    at += token.length;
    if (token === "`" && isText) texts.push(open.pop()?.text ?? "");
    else if (token === "`") open.push({ text: "", braces: 0 });
    else if (template && isText && token === "${") template.braces = 1;
    else if (template && isText) template.text += token;
    else if (/^["']./s.test(token)) texts.push(token.slice(1, -1));
    else if (template && token === "{") template.braces += 1;
    else if (template && token === "}") template.braces -= 1;
  }
  return texts;
}

describe("the console", () => {
  test("gets the names of both sides from the gateway", async () => {
    const { body } = await gateway.requestAdmin("GET /api");
    expect(body.names).toEqual({ client: "old shop", upstream: "new shop" });
  });

  test("shows no other names", () => {
    const folder = "src/console/public";
    const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".js"))
      // Names of metrics, classes and members in records are the same for all packs.
      .flatMap((name) =>
        literalsOf(readFileSync(join(folder, name), "utf8").replaceAll(/alpha[-_]gateway/g, "")),
      )
      .filter((text) => OTHER_NAMES.test(text) && !/^alpha$|^(?:key )?(?:bar|key)-|^v4$|\$\{v4/.test(text));
    expect(texts).toEqual([]);
  });
});
