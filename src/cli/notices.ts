/** `alpha-gateway notices`: tries the receivers of notices. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { NO_CLIENTS } from "../clients/client-directory.ts";
import type { Settings } from "../config/setting-definitions.ts";
import { noticesFile, type NoticesPlan } from "../notices/notices-file.ts";
import { SendError } from "../notices/send-error.ts";
import { sendWaiting } from "../notices/send.ts";
import { readOperatorFile } from "../operator-files/operator-file.ts";
import { print } from "./terminal.ts";

/** Sends a test to one receiver. @returns what went wrong; undefined if nothing did */
async function sendTest(plan: NoticesPlan, receiver: string): Promise<string | undefined> {
  const now = new Date();
  const notice = { type: "test", timestamp: now.toISOString(), data: { receiver } } as const;
  const entry = { id: `msg_${randomUUID()}`, to: receiver, at: now.getTime(), notice };
  const sources = { file: () => plan, directory: () => NO_CLIENTS, readReport: async () => undefined };
  try {
    await sendWaiting(entry, sources, new AbortController().signal);
    return undefined;
  } catch (error) {
    if (error instanceof SendError) return error.message;
    throw error;
  }
}

/** Runs `alpha-gateway notices test`. @returns the exit code: 1 if a receiver did not take its notice */
export async function testNotices(
  { NOTICES_FILE: file, AUDIT }: Pick<Settings, "NOTICES_FILE" | "AUDIT">,
  command: Command,
): Promise<number> {
  if (file === undefined)
    return command.error("error: there are no receivers: set NOTICES_FILE, or give --notices-file");
  const plan = readOperatorFile(file, noticesFile({ hasAudit: AUDIT !== "off", readsSecrets: true }));
  let failed = 0;
  for (const { name } of plan.receivers) {
    const problem = await sendTest(plan, name);
    if (problem !== undefined) failed += 1;
    print(`${name}: ${problem === undefined ? "sent" : `not sent: ${problem}`}\n`);
  }
  if (plan.receivers.length === 0) print("The file has no receivers.\n");
  return failed === 0 ? 0 : 1;
}
