import type { Target } from "../../../fuzz/target.ts";

/** Rejects a promise that nobody waits for. */
export const target: Target = {
  name: "planted-rejection",
  subject: "A planted rejection",
  covers: ["/test/system/fuzz/planted-rejection.ts"],
  longest: 8,
  seeds: ["de"],
  dictionary: ["x"],
  async run(input) {
    if (input === "de") void Promise.reject(new Error("planted"));
    await new Promise(setImmediate);
  },
};
