import type { Target } from "../../../fuzz/target.ts";

export const target: Target = {
  name: "planted-hang",
  subject: "A planted hang",
  covers: ["/test/system/fuzz/planted-hang.ts"],
  longest: 8,
  seeds: ["abcd"],
  dictionary: ["!"],
  run(input) {
    while (input.includes("!")) {
      // For ever, as a regular expression can.
    }
  },
};
