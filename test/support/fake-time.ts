/** What Jest's fake timers can replace. */
const ALL = [
  "Date",
  "hrtime",
  "nextTick",
  "performance",
  "queueMicrotask",
  "setImmediate",
  "clearImmediate",
  "setInterval",
  "clearInterval",
  "setTimeout",
  "clearTimeout",
] as const;

/** The value of `doNotFake` where only these are to be replaced. */
export const allBut = (...faked: (typeof ALL)[number][]): (typeof ALL)[number][] =>
  ALL.filter((name) => !faked.includes(name));
