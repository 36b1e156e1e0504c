/** Secrets in request heads and in responses of the login server never appear in the audit record. */
import { request as open } from "node:http";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { json } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const TOKEN = "t0k3n-s3cr3t-of-a-client";
const gateway = startForTests(() => startListeningGatewayWithFakeV4(RECORDING));

/** By lines, as `fetch` sends neither repeated ones nor bytes of UTF-8. */
async function send(path: string, lines: readonly string[]): Promise<void> {
  const to = new URL(gateway.url);
  const headers = [`Host: ${to.host}`, "Connection: close", ...lines].flatMap((line) => {
    const at = line.indexOf(": ");
    return [line.slice(0, at), Buffer.from(line.slice(at + 2)).toString("latin1")];
  });
  const sent = open({ host: to.hostname, port: to.port, path, headers }).end();
  const [response] = await once(sent, "response");
  response.resume();
  await once(response, "end");
}

test.each([
  ["of another scheme, on a path that v4 lacks", [`Authorization: Bearer ${TOKEN}`], "/vm/nothing"],
  ["of Basic", [`Authorization: Basic ${TOKEN}`], "/v4/vm/instances"],
  ["in two lines", [`Authorization: token ${TOKEN}`, "Authorization: token other-one"], "/v4/vm/instances"],
  [
    "in the second of two lines",
    ["Authorization: token other-one", `Authorization: token ${TOKEN}`],
    "/v4/vm/instances",
  ],
  ["without a scheme", [`Authorization: ${TOKEN}`], "/v4/vm/instances"],
  ["with more words", [`Authorization: Digest username="x", response="${TOKEN}"`], "/v4/vm/instances"],
])("a token %s that is repeated in the query is not recorded", async (_, lines, path) => {
  await send(`${path}?label=${TOKEN}&x=1`, lines);
  const { alpha } = await gateway.readLastRecord();
  expect(alpha.query).toBe("label=[redacted]&x=1");
});

test.each([
  ["an accent", "passwörd"],
  ["full width", "ｐａｓｓｗｏｒｄ"],
  ["a Cyrillic letter", "pаssword"],
])("a secret name in UTF-8 with %s is detected in a header", async (_, name) => {
  await send("/v4/vm/instances", [
    `Authorization: token ${TOKEN}`,
    `X-Filter: {"${name}":"f1lt3r-s3cr3t","label":"Zoë"}`,
    `User-Agent: ${name}=ag3nt-s3cr3t`,
  ]);
  const record = await gateway.readLastRecord();
  expect(JSON.parse(record.alpha.filter)).toEqual({ [name]: "[redacted]", label: "Zoë" });
  expect(JSON.stringify(record)).not.toContain("s3cr3t");
});

test("a response with an id_token is recorded without it", async () => {
  gateway.v4.respondWith(json(200, { id: 1, id_token: "1d-s3cr3t", token_type: "bearer" }));
  await gateway.request("GET /vm/instances/1", { as: TOKEN });
  const { v4 } = await gateway.readLastRecord();
  expect(v4[0].response).toEqual({ id: 1, id_token: "[redacted]", token_type: "bearer" });
});
