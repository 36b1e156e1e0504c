import { expect, test } from "@jest/globals";
import { joinKeys } from "../../../src/pack/keys/route-keys.ts";

test("a key with the name of another member of a route does not compile", () => {
  expect(joinKeys({ safe: true }, { kind: "list" })).toEqual({ safe: true, kind: "list" });
  // @ts-expect-error -- the key would be lost
  joinKeys({ safe: true, kind: true }, { kind: "list" });
});
