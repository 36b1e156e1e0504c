/** The exports of `sandbox` for other rooms. */
export { type Sandbox, startSandbox } from "./create-sandbox.ts";
export { readSeedFile } from "./seed/seed-file.ts";
