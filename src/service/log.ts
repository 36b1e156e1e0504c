import { pino, type Logger } from "pino";

export type Log = Logger;

/** Lines of JSON on standard error, so that standard output stays for people. Written at once: none is lost in a crash. */
export const createLog = (level: string): Log =>
  pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
