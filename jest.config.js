/** Native ESM; types are stripped in place, so that stack traces need no source maps. */
export default {
  testEnvironment: "node",
  extensionsToTreatAsEsm: [".ts"],
  transform: { "\\.ts$": "./test/support/strip-types.js" },
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  reporters: ["default", "<rootDir>/test/support/name-skipped.js"],
  setupFiles: ["<rootDir>/test/support/seed.js"],
  testTimeout: 20_000,
  coverageProvider: "v8",
};
