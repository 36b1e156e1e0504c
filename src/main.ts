#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";

/** The exit code of a program whose reader closed the pipe, as in shells: 128 plus the number of SIGPIPE. */
const READER_CLOSED = 141;

// Caches compiled modules for the next start. The folder for temporary files is not used, because other users could put
// their own code there. If the folder can't be written, there is no cache.
enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/alpha-gateway"));
const { runCommandLine } = await import("./app/cli/program.ts");

const args = process.argv.slice(2);

// A reader such as `head` closes the pipe early. A server continues; a command that only prints ends.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (args[0] !== "serve" && args[0] !== "sandbox") process.exit(READER_CLOSED);
});

process.exitCode = await runCommandLine(args);
