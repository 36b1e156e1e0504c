import { join } from "node:path";

// What Node makes of the sources is kept: for the workers, and for every process that a test starts.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "compiled");

/** Those of the system tests that load the machine as much as it bears, or look at what is left: one at a time. */
const ALONE = ["chaos/leaks", "e2e/bench", "e2e/soak"].map((name) => `<rootDir>/test/system/${name}.test.ts`);

/** Node runs the TypeScript as it is: see test/jest/README.md. */
const native = {
  runtime: "<rootDir>/test/jest/runtime.cjs",
  testEnvironment: "<rootDir>/test/jest/environment.cjs",
  transform: {},
  injectGlobals: false,
  moduleFileExtensions: ["ts", "js", "json", "cjs"],
  setupFiles: ["<rootDir>/test/support/seed.js"],
};

/**
 * `npm test` runs the tests that stay inside the process of the tests, `npm run test:system` those of whole processes,
 * browsers, proxies and injected faults.
 */
export default {
  // More than CI has cores: many tests wait most of their time, for timeouts and for processes.
  maxWorkers: 4,
  testSequencer: "<rootDir>/test/jest/longest-first.cjs",
  // Only a test that hangs takes this long, also on a busy machine.
  testTimeout: 60_000,
  reporters: ["default", "<rootDir>/test/jest/name-skipped.cjs"],
  projects: [
    {
      ...native,
      displayName: "in-process",
      setupFiles: [...native.setupFiles, "<rootDir>/test/support/kept-threads.js"],
      testMatch: ["<rootDir>/test/**/*.test.ts"],
      testPathIgnorePatterns: ["<rootDir>/test/system/"],
    },
    {
      ...native,
      displayName: "system",
      testMatch: ["<rootDir>/test/system/**/*.test.ts"],
      testPathIgnorePatterns: ALONE,
    },
    { ...native, displayName: "system-alone", testMatch: ALONE },
  ],
};
