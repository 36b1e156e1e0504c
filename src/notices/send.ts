/** Sends something that waits, by a webhook or by mail. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import type { ClientReport } from "./digest.ts";
import { sendMail } from "./mail.ts";
import { isAddress, type NoticesPlan } from "./notices-file.ts";
import type { Waiting } from "./outbox.ts";
import { SendError } from "./send-error.ts";
import { contactMail, mailOf } from "./templates.ts";
import { sendWebhook } from "./webhook.ts";

/** Where receivers, contacts and reports are found at the time of sending. */
export interface SendSources {
  /** The file, as it was last read. */
  readonly file: () => NoticesPlan;
  readonly directory: () => ClientDirectory;
  /** Reads the report about a client of the directory; undefined if it has never called. @throws {AuditUnavailableError} */
  readonly readReport: (client: string) => Promise<ClientReport | undefined>;
}

/** Sends a client's report to its contact. */
async function sendReport(
  { id, client }: { readonly id: string; readonly client: string },
  { file, directory, readReport }: SendSources,
  signal: AbortSignal,
): Promise<void> {
  const { smtp, contacts } = file();
  const contact = directory().find(client)?.contact;
  if (!contacts || !smtp || !isAddress(contact)) throw new SendError("the contact gets no reports", true);
  const report = await readReport(client).catch(() => {
    throw new SendError("the audit store can't be read");
  });
  if (!report) throw new SendError("the client has made no calls", true);
  await sendMail(smtp, { id, to: [contact], ...contactMail(report) }, signal);
}

/** Sends something that waits. @throws {SendError} */
export async function sendWaiting(entry: Waiting, sources: SendSources, signal: AbortSignal): Promise<void> {
  const { id, to, notice, client } = entry;
  if (client !== undefined) return sendReport({ id, client }, sources, signal);
  const { receivers, smtp } = sources.file();
  const target = receivers.find(({ name }) => name === to)?.target;
  if (!target || !notice) throw new SendError("there is no such receiver", true);
  if ("url" in target) return sendWebhook(target, { id, notice }, signal);
  if (!smtp) throw new SendError("there is no mail server", true);
  return sendMail(smtp, { id, to: target.to, ...mailOf(notice) }, signal);
}
