/** No value of a body leads a v4 request to another path than the pack's (L-16). */
import { describe, expect, test } from "@jest/globals";
import { bodyPlaces, type BodyPlace } from "../../../fuzz/worst/places.ts";
import { startListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({
    AUDIT: "off",
    RATE_LIMIT: "1000000/120",
    RATE_LIMIT_CREATE: "1000000/30",
  }),
);

/** What a server may read as a step up, the end of a path, or a path of its own. */
const STEPS = ["..", "../../account", "..%2f..%2faccount", "7?a=b"];
const VALUES = [...STEPS, [".."], { id: ".." }];

/** Segments as the most willing server would read them. */
const segments = (path: string): string[] => decodeURIComponent(decodeURIComponent(path)).split(/[/\\]/);

function respondAs({ responses }: BodyPlace): void {
  gateway.v4.respondWith((call, response) => {
    const found =
      responses.find(({ method, path }) => method === call.method && path === call.path) ??
      responses.find(({ method }) => method === call.method);
    return json(found?.status ?? 200, found?.body ?? envelope([]), { "x-oauth-scopes": "*" })(call, response);
  });
}

const byRoute = Map.groupBy(bodyPlaces("mappings"), ({ route }) => route);

describe("no value of a body changes the path or the host of a v4 request", () => {
  test.each([...byRoute])(
    "%s",
    async (_route, places) => {
      const wrong: string[] = [];
      for (const place of places) {
        respondAs(place);
        for (const value of VALUES) {
          gateway.v4.calls.length = 0;
          const { method, target, body } = place.request(JSON.stringify(value));
          await fetch(`${gateway.url}${target}`, {
            method,
            headers: { Authorization: "token good", "Content-Type": "application/json" },
            body,
          }).then((response) => response.arrayBuffer());
          for (const { path } of gateway.v4.calls) {
            const [plain = "", query = ""] = path.split("?");
            const climbs = segments(plain).some(
              (segment, index) => /^\.{1,2}$/.test(segment) || (index > 0 && segment === ""),
            );
            if (climbs || query.includes("a=b") || path.includes("#"))
              wrong.push(`${place.member} = ${JSON.stringify(value)}: ${path}`);
          }
        }
      }
      expect(wrong).toEqual([]);
    },
    60_000,
  );
});
