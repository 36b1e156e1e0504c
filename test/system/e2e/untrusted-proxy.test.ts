/** A gateway behind a proxy that TRUST_PROXY does not name says so, once. */
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve } from "./program.ts";

test.each<[string, Record<string, string>, Record<string, string>, number]>([
  ["X-Forwarded-For, without TRUST_PROXY", { "x-forwarded-for": "203.0.113.9" }, {}, 1],
  ["Forwarded, without TRUST_PROXY", { forwarded: "for=203.0.113.9" }, {}, 1],
  [
    "X-Forwarded-For, from another proxy",
    { "x-forwarded-for": "203.0.113.9" },
    { TRUST_PROXY: "192.0.2.1" },
    1,
  ],
  [
    "X-Forwarded-For, from a trusted proxy",
    { "x-forwarded-for": "203.0.113.9" },
    { TRUST_PROXY: "127.0.0.1" },
    0,
  ],
  ["neither header", {}, {}, 0],
])("%s", async (_case, headers, env, warnings) => {
  const gateway = await serve(temporaryFolder(), { env });
  for (let n = 0; n < 3; n += 1) await fetch(`${gateway.url}/v4/regions`, { headers });
  gateway.signal("SIGTERM");
  const { err } = await gateway.ended;
  const lines = err.split("\n").filter((line) => line.includes("AG_PROXY_NOT_TRUSTED"));
  expect(lines).toHaveLength(warnings);
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({
      address: "127.0.0.1",
      msg: expect.stringMatching(/set TRUST_PROXY/),
    });
});
