/** Starts the files that take a minute or more before all others: no worker has one of them at the end, when the rest are idle. */
const { default: Sequencer } = require("@jest/test-sequencer");

const LONGEST = [
  "retirement-story",
  "npx",
  "dockerfile",
  "console",
  "kill",
  "postgres",
  "documented-commands",
];

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const isLong = ({ path }) => LONGEST.some((name) => path.endsWith(`/${name}.test.ts`));
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
