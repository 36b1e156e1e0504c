/**
 * Jest's runtime without its own module system: Node imports the test files and strips their types, and the files that a
 * worker runs share the modules of the product. README.md has the reason, and how to remove it.
 */
const { registerHooks } = require("node:module");
const { pathToFileURL } = require("node:url");
const { default: JestRuntime } = require("jest-runtime");

/** What `@jest/globals` gives to the test file that runs now. */
const CURRENT = Symbol.for("jest-globals-of-this-file");

/** Names that tests and their helpers import. Helpers are loaded once in a worker, so they get what delegates. */
const NAMES = ["afterAll", "afterEach", "beforeAll", "beforeEach", "describe", "expect", "jest", "test"];

const source = NAMES.map(
  (name) => `export const ${name} = new Proxy(function () {}, {
    apply: (_target, _this, args) => globalThis[Symbol.for("${CURRENT.description}")].${name}(...args),
    get: (_target, key) => globalThis[Symbol.for("${CURRENT.description}")].${name}[key],
  });`,
).join("\n");

const URL_OF_GLOBALS = "jest:globals";

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@jest/globals"
      ? { url: URL_OF_GLOBALS, format: "module", shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === URL_OF_GLOBALS ? { source, format: "module", shortCircuit: true } : next(url, context),
});

/** circus keeps these on the global object, for the test file that runs now. */
const HANDLERS = Symbol.for("EVENT_HANDLERS");
const STATE = "JEST_STATE_SYMBOL";

let runs = 0;

module.exports = class NativeRuntime extends JestRuntime {
  #testPath;

  constructor(...args) {
    super(...args);
    this.#testPath = args[6];
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** A test file is run each time, its modules are loaded once. */
  unstable_importModule(path) {
    const url = pathToFileURL(path).href;
    return import(path === this.#testPath ? `${url}?run=${(runs += 1)}` : url);
  }

  requireInternalModule(path) {
    delete globalThis[HANDLERS];
    delete require.cache[path];
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    globalThis[CURRENT] = this.requireModuleOrMock(this.#testPath, "@jest/globals");
  }

  /** Without this the tree of each test file would stay in memory. */
  teardown() {
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (symbol.description === STATE) delete globalThis[symbol];
    delete globalThis[CURRENT];
    super.teardown();
  }
};
