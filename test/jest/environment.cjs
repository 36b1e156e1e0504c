/** A test environment without a context of its own: tests run where Node runs them. */
const { ModernFakeTimers } = require("@jest/fake-timers");
const { ModuleMocker } = require("jest-mock");

module.exports = class NativeEnvironment {
  global = globalThis;
  fakeTimers = null;
  moduleMocker = new ModuleMocker(globalThis);

  /** Jest replaces these for each file. */
  #own = { console, exit: process.exit };

  /** What ends with a test, with a `describe`, or with the file: one list for each that has begun. */
  #ends = [[]];

  constructor({ projectConfig }, { testPath }) {
    // See test/support/kept-threads.js. Tests of the store need its own threads.
    globalThis[Symbol.for("keeps-threads")] = !testPath.includes("/test/audit/store/");
    globalThis[Symbol.for("ends-with-test")] = (end) => void this.#ends.at(-1).push(end);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async #end() {
    for (const end of this.#ends.pop().toReversed()) await end();
  }

  async handleTestEvent({ name, test }) {
    if (["run_describe_start", "test_start"].includes(name)) this.#ends.push([]);
    if (["run_describe_finish", "test_skip", "test_todo"].includes(name)) await this.#end();
    if (name === "test_done") await this.#end().catch((error) => void test.errors.push(error));
  }

  async teardown() {
    while (this.#ends.length > 0) await this.#end();
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.#own.console;
    process.exit = this.#own.exit;
  }

  getVmContext() {
    return null;
  }

  exportConditions() {
    return ["node", "node-addons"];
  }
};
