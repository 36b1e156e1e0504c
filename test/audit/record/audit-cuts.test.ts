/** Long texts of a client are recorded in part. The cut leaves no part of a secret. */
import { expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { json } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const SECRET = "S3CR3T-4f2b91";
const TOKEN = "t0k3n-of-a-client";
const PART = /S3CR3T/;

const gateway = startForTests(() =>
  startGatewayWithFakeV4({
    ...RECORDING,
    RATE_LIMIT: "100000/1",
    RATE_LIMIT_CREATE: "100000/1",
  }),
);

/** Texts in which a secret ends at, crosses or starts at a character. */
const textsAround = (cut: number): string[] =>
  Array.from(
    { length: SECRET.length + 2 },
    (_, before) => "x".repeat(cut - before) + SECRET + "y".repeat(20),
  );

test.each<[string, number, (text: string) => [call: string, sent?: object]]>([
  [
    "user agent",
    512,
    (text) => ["GET /vm/instances?password=" + SECRET, { headers: { "user-agent": text } }],
  ],
  [
    "user agent with a name",
    512,
    (text) => ["GET /vm/instances", { headers: { "user-agent": text.replace(SECRET, ` token=${SECRET}`) } }],
  ],
  ["ignored parameter", 60, (text) => [`GET /vm/instances?password=${SECRET}&${text}=1`]],
  ["field of an error", 60, (text) => ["GET /vm/instances?password=" + SECRET, { filter: { [text]: 1 } }]],
])("of a long %s no part of a secret is recorded", async (_, cut, callOf) => {
  gateway.v4.respondWith(json(200, { data: [], page: 1, pages: 1, results: 0 }));
  for (const text of textsAround(cut)) {
    const [call, sent] = callOf(text);
    await gateway.request(call, { as: TOKEN, ...sent });
    const record = JSON.stringify(await gateway.readLastRecord());
    expect(record).toContain("xxxxxxxxxxxx");
    expect(record).not.toMatch(PART);
  }
});

test("a long name of an ignored parameter is cut in the record", async () => {
  gateway.v4.respondWith(json(200, { data: [], page: 1, pages: 1, results: 0 }));
  await gateway.request(`GET /vm/instances?${"n".repeat(100)}=1`, { as: TOKEN });
  expect((await gateway.readLastRecord()).alpha.ignored).toEqual([`${"n".repeat(60)}…`]);
});
