/** What other rooms may use of `sandbox`. */
export { type Sandbox, startSandbox } from "./create-sandbox.ts";
export { readSeedFile } from "./seed/seed-file.ts";
