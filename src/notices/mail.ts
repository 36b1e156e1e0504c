/** Sends plain text mails. The library is loaded with the first mail. */
import type { MailServer } from "./notices-file.ts";
import { requiresTls } from "./secrets.ts";
import { codeOf, SendError } from "./send-error.ts";

/** How long one mail may take, from the connection to the last response of the server. */
export const MAIL_TIMEOUT_MS = 30_000;

export interface Mail {
  /** Stays the same for each attempt, so that mail programs can leave out what they have. */
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

/** SMTP's answers about one mail, or its addresses, that another attempt would not change (RFC 5321, 4.2.1). */
const isRejected = (code: string, status: number): boolean =>
  status >= 500 && (code === "EENVELOPE" || code === "EMESSAGE");

/**
 * Sends a mail.
 *
 * @throws {SendError} If the server does not take it, or takes too long.
 */
export async function sendMail(
  { url, from }: MailServer,
  { id, to, subject, text }: Mail,
  signal: AbortSignal,
): Promise<void> {
  const { createTransport } = await import("nodemailer");
  const { protocol, hostname, port, username, password } = url;
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ""),
    ...(port !== "" && { port: Number(port) }),
    secure: protocol === "smtps:",
    requireTLS: requiresTls(url),
    ...(username !== "" && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: MAIL_TIMEOUT_MS / 2,
    greetingTimeout: MAIL_TIMEOUT_MS / 2,
    socketTimeout: MAIL_TIMEOUT_MS / 2,
    // Contents are texts. A path or an address in them is never read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
      // RFC 3834: nobody's absence notice is sent in response.
      headers: { "Auto-Submitted": "auto-generated" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(MAIL_TIMEOUT_MS)]),
    });
  } catch (error) {
    const code = codeOf(error, "no response in time");
    const { responseCode: status } = error as { responseCode?: unknown };
    if (typeof status !== "number") throw new SendError(code);
    throw new SendError(`${code} ${status}`, isRejected(code, status));
  } finally {
    transport.close();
  }
}
