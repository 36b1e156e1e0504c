/** `alpha-gateway notices test`: sends a test to the receivers of notices. */
import { randomUUID } from "node:crypto";
import { type FeatureCommands, type FeatureParts, lines, readOperatorFile } from "../../base/index.ts";
import { noticesFile, type Receiver } from "./notices-file.ts";
import { SendError, sendWebhook } from "./webhook.ts";

/** Sends a test to one receiver. @returns the error; undefined if it was sent */
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

export const NOTICES_COMMANDS: FeatureCommands<unknown, FeatureParts> = {
  settings: ["NOTICES_FILE"],
  otherSettings: ["AUDIT"],
  absence: "there are no receivers",
  all: [
    {
      syntax: "test",
      description: "Send one notice to each receiver, and print the results.",
      async run({ settings: { NOTICES_FILE: file = "", AUDIT } }) {
        // The file is read again, because a command opens the feature without secrets.
        const kind = noticesFile({ hasAudit: AUDIT !== "off", readsSecrets: true });
        const { receivers } = readOperatorFile(file, kind);
        const problems: (string | undefined)[] = [];
        for (const receiver of receivers) problems.push(await sendTest(receiver));
        const results = receivers.map(({ name }, index) =>
          problems[index] === undefined ? `${name}: sent` : `${name}: not sent: ${problems[index]}`,
        );
        return {
          blocks: lines(...(results.length === 0 ? ["The file has no receivers."] : results)),
          exitCode: problems.every((problem) => problem === undefined) ? 0 : 1,
        };
      },
    },
  ],
};
