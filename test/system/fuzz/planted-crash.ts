import type { Target } from "../../../fuzz/target.ts";

/** Falls over a word that is found letter by letter: each right one reaches the next line, and chance needs millions of tries for all. */
export const target: Target = {
  name: "planted-crash",
  subject: "A planted crash",
  covers: ["/test/system/fuzz/planted-crash.ts"],
  longest: 8,
  seeds: ["abcd"],
  dictionary: ["x"],
  run(input) {
    if (input[0] !== "d") return;
    if (input[1] !== "e") return;
    if (input[2] !== "{") return;
    if (input[3] === "E") throw new Error("planted");
  },
};
