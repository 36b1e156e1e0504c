/** Starts the files that take half a minute or more before all others: no worker has one of them at the end, when the rest are idle. */
const { default: Sequencer } = require("@jest/test-sequencer");

/** The longest first. */
const LONGEST = [
  "retirement-story",
  "npx",
  "console",
  "guides",
  "dockerfile",
  "examples",
  "retirement-postgres",
  "kill",
  "postgres",
  "seeded-faults",
  "postgres-store",
  "sqlite-store",
];

/** The place of a file in the list; behind it for all others, which stay in Jest's order. */
function placeOf({ path }) {
  const place = LONGEST.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return place < 0 ? LONGEST.length : place;
}

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
};
