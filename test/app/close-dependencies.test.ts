/** Closing a gateway: a dependency that fails to close does not keep others open. */
import { expect, test } from "@jest/globals";
import { createDependencies } from "../../src/app/composition/dependencies.ts";
import { readEnvironment } from "../../src/base/settings/settings.ts";
import { temporaryFolder } from "../support/ends-with-test.ts";

test("closes the stores, the listeners, and then the remaining services, even after errors", async () => {
  const dependencies = await createDependencies(
    readEnvironment({ SANDBOX: "true", DATA_DIR: temporaryFolder(), LOG_LEVEL: "silent" }),
  );
  const isRejected = (ask: () => unknown): Promise<boolean> =>
    Promise.resolve()
      .then(ask)
      .then(
        () => false,
        () => true,
      );
  const { state, v4, audit } = dependencies;
  const closing = dependencies.close(async () => {
    expect(await isRejected(() => state.get("any"))).toBe(true);
    expect(await isRejected(() => audit?.query({}))).toBe(true);
    throw new Error("the listeners can't be closed");
  });
  await expect(closing).rejects.toThrow("the listeners can't be closed");
  expect(await isRejected(() => fetch(v4.origin))).toBe(true);
});
