#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read: it starts the program, or says which Node it needs.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { needsNewerNode } from "./node-version.cjs";

/** Signals that a process manager or a terminal sends to a program. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const at = (path) => new URL(path, import.meta.url);
const source = at("../src/main.ts");
/** A package has no sources. A checkout may have an old build. */
const isCheckout = existsSync(source);
const main = isCheckout ? source : at("../dist/main.js");

/** Runs the program with another Node, as if it were this process: same terminal, same signals, same exit code. */
function runWith(node) {
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on("error", ({ message }) => fail(message));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function fail(reason) {
  process.stderr.write(`${reason}.\n`);
  process.exit(1);
}

/** The Node that `npm ci` installs in a checkout. */
const pinned = fileURLToPath(
  at(`../node_modules/node/bin/node${process.platform === "win32" ? ".exe" : ""}`),
);

/**
 * npx starts the program in a shell. A shell that is killed passes no signal on, so the program would go on without npx.
 * Where the shell is gone, the program gets the signal.
 */
function endWithShell() {
  const shell = process.ppid;
  const look = () => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  };
  const timer = setInterval(look, 200);
  timer.unref();
}

if (process.env.npm_command === "exec") endWithShell();

const reason = needsNewerNode(process.versions.node);
if (reason === undefined) void import(main.href);
else if (isCheckout && existsSync(pinned)) runWith(pinned);
else fail(isCheckout ? `${reason}: run npm ci, which installs it` : reason);
