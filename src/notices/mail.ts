/** Sends plain text mails. The library is loaded with the first mail. */
import { LRUCache } from "lru-cache";
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

const IN_TIME = "no response in time";

/** Mails of which some addresses wait for another attempt. */
const MAX_PARTLY_SENT = 1000;

/** The addresses that a server rejected, with its answer about each. */
interface Rejections {
  readonly rejectedErrors?:
    | readonly { readonly responseCode?: number | undefined; readonly recipient?: string | undefined }[]
    | undefined;
}

/** Sends mails. A server may take a mail for some of its addresses: the next attempt is for the others. */
export class MailSender {
  readonly #left = new LRUCache<string, readonly string[]>({ max: MAX_PARTLY_SENT });

  /**
   * Sends a mail.
   *
   * @throws {SendError} If the server does not take it for all addresses, or takes too long.
   */
  async send(server: MailServer, mail: Mail, signal: AbortSignal): Promise<void> {
    const { rejectedErrors = [] } = await sendTo(this.#left.get(mail.id) ?? mail.to, server, mail, signal);
    if (rejectedErrors.length === 0) return void this.#left.delete(mail.id);
    const later = rejectedErrors.filter(({ responseCode = 0 }) => responseCode < 500);
    const [error] = later.length > 0 ? later : rejectedErrors;
    const reason = `${rejectedErrors.length} of ${mail.to.length} addresses: EENVELOPE ${error?.responseCode ?? ""}`;
    // What the server rejects for good is not tried again, and is reported with the rest.
    this.#left.set(
      mail.id,
      later.flatMap(({ recipient }) => recipient ?? []),
    );
    throw new SendError(reason.trim(), later.length === 0);
  }
}

/** Makes one attempt for some of the addresses of a mail. @throws {SendError} if the server takes it for none */
async function sendTo(
  addresses: readonly string[],
  { url, from }: MailServer,
  { id, to, subject, text }: Mail,
  signal: AbortSignal,
): Promise<Rejections> {
  const { createTransport } = await import("nodemailer");
  const deadline = AbortSignal.timeout(MAIL_TIMEOUT_MS);
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
    return await transport.sendMail({
      from,
      to: [...to],
      envelope: { from, to: [...addresses] },
      subject,
      text,
      messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
      // RFC 3834: nobody's absence notice is sent in response.
      headers: { "Auto-Submitted": "auto-generated" },
      signal: AbortSignal.any([signal, deadline]),
    });
  } catch (error) {
    const code = deadline.aborted ? IN_TIME : codeOf(error, IN_TIME);
    const { responseCode: status } = error as { responseCode?: unknown };
    if (typeof status !== "number") throw new SendError(code);
    throw new SendError(`${code} ${status}`, isRejected(code, status));
  } finally {
    transport.close();
  }
}
