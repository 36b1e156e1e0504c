/**
 * Keeps the threads of closed audit stores for the next gateways of the same process: most tests with records start a
 * gateway of their own, and starting its threads took a third of the CPU time of all tests.
 */
import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const STORE_THREAD = /\/audit\/store\/sqlite\/thread\/worker\.[jt]s$/;
/** Threads that wait for a store. A store has up to three. */
const MOST_FREE = 3;
const INSTALLED = Symbol.for("kept-threads");
/** Whether the test file that runs now may use kept threads. */
const KEEPS = Symbol.for("keeps-threads");

const { Worker } = threads;
const free = [];

/** A thread as a store sees it. It is kept when it is ended, if its store was closed and it has no more to do. */
class KeptWorker extends EventEmitter {
  #worker;
  #pending = 0;
  #lastMethod = "close";
  #forward = {
    message: (message) => {
      this.#pending -= 1;
      this.emit("message", message);
    },
    error: (error) => this.emit("error", error),
    exit: (code) => {
      this.#release();
      this.emit("exit", code);
    },
  };

  constructor(url, options) {
    super();
    this.#worker = free.pop() ?? new Worker(url, options);
    // A thread that waits must not keep the process.
    this.#worker.unref();
    for (const [event, listener] of Object.entries(this.#forward)) this.#worker.on(event, listener);
  }

  get threadId() {
    return this.#worker?.threadId ?? -1;
  }

  postMessage(message, transfer) {
    this.#pending += 1;
    this.#lastMethod = message.job.method;
    this.#worker?.postMessage(message, transfer);
  }

  async terminate() {
    const worker = this.#release();
    if (!worker) return;
    const isFree = this.#pending === 0 && this.#lastMethod === "close" && free.length < MOST_FREE;
    if (isFree) free.push(worker);
    else await worker.terminate();
  }

  #release() {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const [event, listener] of Object.entries(this.#forward)) worker?.off(event, listener);
    return worker;
  }
}

// This file is loaded for each test file.
if (!threads[INSTALLED]) {
  threads[INSTALLED] = true;
  threads.Worker = new Proxy(Worker, {
    construct: (target, [url, options]) =>
      globalThis[KEEPS] && STORE_THREAD.test(String(url))
        ? new KeptWorker(url, options)
        : new target(url, options),
  });
  syncBuiltinESMExports();
}
