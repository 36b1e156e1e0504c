/** A gateway that clients need no credentials for, and that accepts every host name, says so at the start. */
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve } from "./program.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const PUBLIC_URL = "https://books.example.org";

test.each<[string, object, Record<string, string>, number]>([
  ["every address, and no PUBLIC_URL", {}, { HOST: "0.0.0.0" }, 1],
  ["every address, and PUBLIC_URL", {}, { HOST: "0.0.0.0", PUBLIC_URL }, 0],
  ["a loopback address", {}, { HOST: "127.0.0.1" }, 0],
  ["client credentials", { credentials: { header: "X-Key" } }, { HOST: "0.0.0.0" }, 0],
])("%s", async (_case, client, env, warnings) => {
  const folder = writeSmallPack({ client });
  const gateway = await serve(temporaryFolder(), {
    env: { MAPPINGS_DIR: folder, UPSTREAM_URL: "http://127.0.0.1:1", ...env },
  });
  gateway.signal("SIGTERM");
  const { err } = await gateway.ended;
  const lines = err.split("\n").filter((line) => line.includes("AG_HOST_NOT_CHECKED"));
  expect(lines).toHaveLength(warnings);
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ host: "0.0.0.0", msg: expect.stringMatching(/Set PUBLIC_URL/) });
});
