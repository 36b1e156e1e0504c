/** The `Server-Timing` header (W3C Server Timing). */
import { expect, test } from "@jest/globals";
import { startGateway, type Gateway } from "../../support/gateway.ts";

let gateway: Gateway;

async function serverTiming(call: string): Promise<string | null> {
  const { headers } = await gateway.request(call);
  return headers.get("server-timing");
}

/** Names of the stages, and whether each has a duration in milliseconds. */
const stagesOf = (header: string | null): [string | undefined, boolean][] =>
  (header ?? "").split(", ").map((entry) => {
    const [name, duration = ""] = entry.split(";");
    return [name, /^dur=\d+\.\d{3}$/.test(duration)];
  });

test("responses have no Server-Timing by default", async () => {
  gateway = await startGateway();
  expect(await serverTiming("GET /vm/instances")).toBeNull();
});

test("a response contains the milliseconds of each stage, in order, with SERVER_TIMING=on", async () => {
  gateway = await startGateway({ SERVER_TIMING: "on" });
  const stages = ["authenticate", "match_route", "rate_limit", "authorize"];
  expect(stagesOf(await serverTiming("GET /vm/instances"))).toEqual(
    [...stages, "build_request", "upstream", "build_response"].map((stage) => [stage, true]),
  );
});

test("a rejected request contains the stages that it reached with SERVER_TIMING=on", async () => {
  gateway = await startGateway({ SERVER_TIMING: "on" });
  expect(stagesOf(await serverTiming("GET /nothing"))).toEqual(
    ["authenticate", "match_route", "rate_limit"].map((stage) => [stage, true]),
  );
});
