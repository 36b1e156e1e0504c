#!/usr/bin/env node
import { runCommandLine } from "./cli/program.ts";

/** The exit code of a program whose reader closed the pipe, as shells report it: 128 and the number of SIGPIPE. */
const READER_CLOSED = 141;

const args = process.argv.slice(2);

// A reader such as `head` closes the pipe early. A server continues; a command that only prints ends.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (args[0] !== "serve" && args[0] !== "sandbox") process.exit(READER_CLOSED);
});

process.exitCode = await runCommandLine(args);
