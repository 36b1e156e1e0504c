// The library for `import`. Through CommonJS, so that an old version of Node reads no module that it can't read.
import library from "./index.cjs";

export const {
  alphaGateway,
  AuditUnavailableError,
  createGateway,
  ListenError,
  loadPack,
  PackError,
  SettingsError,
  StateUnavailableError,
} = library;
