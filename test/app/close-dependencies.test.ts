/** Closing a gateway: a dependency that fails to close does not keep others open. */
import { expect, test } from "@jest/globals";
import { closeDependencies, type Dependencies } from "../../src/app/dependencies.ts";

const NAMES = [
  "tokenChecks",
  "notices",
  "audit",
  "oauth",
  "stateFullness",
  "comparisons",
  "sunset",
  "rollout",
  "shared",
  "tracing",
  "metrics",
  "nativeProxy",
  "upstream",
  "clients",
  "v4",
];

test.each([...NAMES, "the listeners"])(
  "closes the other dependencies if %s cannot be closed",
  async (bad) => {
    const closed: string[] = [];
    const close = (name: string) => async (): Promise<void> => {
      if (name === bad) throw new Error(`${name} can't be closed`);
      closed.push(name);
    };
    const parts = Object.fromEntries(NAMES.map((name) => [name, { close: close(name) }]));
    const ending = closeDependencies(
      { ...parts, inFlight: { idle: async () => {} } } as unknown as Dependencies,
      close("the listeners"),
    );
    await expect(ending).rejects.toThrow(`${bad} can't be closed`);
    expect(closed.toSorted()).toEqual([...NAMES, "the listeners"].filter((name) => name !== bad).toSorted());
  },
);
