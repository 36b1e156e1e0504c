import { stripTypeScriptTypes } from "node:module";

/** Jest transform: removes the types and keeps every line and column where it was. */
export default {
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: "strip" }) }),
};
