/** `alpha-gateway notices`: tries the receivers of notices. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { readOperatorFile, type Settings } from "../../../base/index.ts";
import { noticesFile, type Receiver, SendError, sendWebhook } from "../../../migration/index.ts";
import { print } from "../terminal.ts";

/** Sends a test to one receiver. @returns what went wrong; undefined if nothing did */
async function sendTest(receiver: Receiver): Promise<string | undefined> {
  const timestamp = new Date().toISOString();
  const notice = { type: "test", timestamp, data: { receiver: receiver.name } } as const;
  try {
    await sendWebhook(receiver, { id: `msg_${randomUUID()}`, notice }, new AbortController().signal);
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
  for (const receiver of plan.receivers) {
    const problem = await sendTest(receiver);
    if (problem !== undefined) failed += 1;
    print(`${receiver.name}: ${problem === undefined ? "sent" : `not sent: ${problem}`}\n`);
  }
  if (plan.receivers.length === 0) print("The file has no receivers.\n");
  return failed === 0 ? 0 : 1;
}
