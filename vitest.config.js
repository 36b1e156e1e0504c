import { join } from "node:path";
import { defineConfig } from "vitest/config";

// What Node makes of the sources is kept: for the workers, and for every process that a test starts.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "compiled");

/**
 * Tests of whole processes, browsers, proxies and injected faults. `npm run test:system` runs them. `npm test` runs all
 * others: they stay inside the process of the tests.
 */
const SYSTEM = ["test/system/**/*.test.ts"];

/** Those of them that load the machine as much as it bears, or look at what is left afterwards: one at a time. */
const ALONE = [
  "test/system/chaos/leaks.test.ts",
  "test/system/e2e/bench.test.ts",
  "test/system/e2e/soak.test.ts",
];

const results = process.env["TEST_RESULTS"];

export default defineConfig({
  test: {
    // Node runs the TypeScript as it is. The files that a worker runs share the modules of the product.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--disable-warning=ExperimentalWarning"],
    pool: "forks",
    isolate: false,
    maxWorkers: "100%",
    setupFiles: ["test/support/seed.js"],
    sequence: { hooks: "list" },
    // Only a test that hangs takes this long, also on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    taskTitleValueFormatTruncate: 0,
    reporters: [
      "default",
      "./test/support/name-skipped.js",
      ...(results ? [["json", { outputFile: results }]] : []),
    ],
    projects: [
      {
        extends: true,
        test: { name: "in-process", include: ["test/unit/**/*.test.ts", "test/integration/**/*.test.ts"] },
      },
      { extends: true, test: { name: "system", include: SYSTEM, exclude: ALONE } },
      {
        extends: true,
        test: { name: "system-alone", include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
