/** The file of `NOTICES_FILE`: who is told what, where and when. */
import { Cron } from "croner";
import { z } from "zod";
import { errorText } from "../config/error-text.ts";
import { about } from "../mapping/schema/about.ts";
import type { OperatorFileKind, ReportProblem } from "../operator-files/operator-file.ts";
import { CLIENT_EVENTS, DIGESTS, EVENTS, type DigestName, type NoticeEvent } from "./notice.ts";
import { readKey, readMailUrl, readSecret, secretDefinition } from "./secrets.ts";

const address = z.email("is not a mail address").max(254);

/** Whether a contact of the client directory is a mail address. */
export const isAddress = (contact: string | undefined): contact is string =>
  address.safeParse(contact).success;

const receiverDefinition = z.strictObject({
  webhook: about(
    z
      .url({ protocol: /^https?$/, error: "must be an http or https URL" })
      .max(1000)
      .optional(),
    "URL that gets each notice as JSON, signed as Standard Webhooks describes",
    "https://hooks.example.com/alpha",
  ),
  secret: about(
    secretDefinition.optional(),
    "The key of the signatures: `whsec_` and 24 to 64 bytes in Base64",
    { env: "NOTICES_SECRET" },
  ),
  mail: about(z.array(address).min(1).max(20).optional(), "Addresses that get each notice as a mail", [
    "team@example.com",
  ]),
  events: about(z.array(z.enum(EVENTS)).optional(), "Events that the receiver gets. Left out: all of them", [
    "client.new",
    "storm",
  ]),
  digests: about(z.array(z.enum(DIGESTS)).default([]), "Reports that the receiver gets", ["weekly"]),
});
type ReceiverDefinition = z.output<typeof receiverDefinition>;

const cron = z.string().max(100);

const noticesDefinition = z.strictObject({
  receivers: about(
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, "is not a name: lower-case letters, digits, - and _"),
        receiverDefinition,
      )
      .refine((receivers) => Object.keys(receivers).length <= 20, "has more than 20 receivers")
      .default({}),
    "Who gets notices, by name",
    { team: { mail: ["team@example.com"] } },
  ),
  smtp: about(
    z
      .strictObject({
        url: about(
          secretDefinition,
          "Address of the mail server: smtp:// or smtps://, with user and password",
          {
            env: "SMTP_URL",
          },
        ),
        from: about(address, "Sender of all mails", "alpha-gateway@example.com"),
      })
      .optional(),
    "The mail server",
    { url: { env: "SMTP_URL" }, from: "alpha-gateway@example.com" },
  ),
  digests: about(
    z
      .strictObject({
        daily: about(
          cron.default("0 8 * * *"),
          "When daily reports are sent, in cron's five fields",
          "0 8 * * *",
        ),
        weekly: about(cron.default("0 8 * * 1"), "When weekly reports are sent", "0 8 * * 1"),
        zone: about(z.string().max(64).default("UTC"), "Time zone of both", "Europe/Berlin"),
      })
      .prefault({}),
    "When reports are sent",
    { daily: "0 7 * * 1-5", zone: "Europe/Berlin" },
  ),
  contacts: about(
    z.boolean().default(false),
    "Whether each client of CLIENTS_FILE whose contact is a mail address gets a weekly report about itself",
    true,
  ),
});
export type NoticesDefinition = z.output<typeof noticesDefinition>;

/** The form of the file. */
export const NOTICES_SCHEMA = noticesDefinition;

/** A webhook with the key of its signatures. */
export interface WebhookTarget {
  readonly url: string;
  readonly key: Buffer;
}

/** A mail server, and the sender of mails. */
export interface MailServer {
  readonly url: URL;
  readonly from: string;
}

/** Who gets notices. */
export interface Receiver {
  readonly name: string;
  /** A webhook, or addresses of mails. */
  readonly target: WebhookTarget | { readonly to: readonly string[] };
  readonly events: ReadonlySet<NoticeEvent>;
  readonly digests: ReadonlySet<DigestName>;
}

/** A valid file. */
export interface NoticesPlan {
  readonly receivers: readonly Receiver[];
  readonly smtp: MailServer | undefined;
  readonly contacts: boolean;
  /** When the next report is due after a time. Milliseconds since the epoch. */
  nextDigest(digest: DigestName, after: number): number;
}

export interface NoticesContext {
  /** Whether there is an audit store, which knows what clients do. */
  readonly hasAudit: boolean;
  /** Whether secrets are read. `check` leaves them out: it may run elsewhere. */
  readonly readsSecrets: boolean;
}

/** Reports keys of a receiver that contradict each other. */
function checkReceiver(
  name: string,
  definition: ReceiverDefinition,
  file: Checked,
  report: ReportProblem,
): void {
  const path = ["receivers", name];
  const { webhook, mail, secret, events, digests } = definition;
  if ((webhook === undefined) === (mail === undefined))
    report("AG_NOTICES_RECEIVER_KIND", path, "a receiver has one of the keys webhook and mail");
  else if ((webhook === undefined) !== (secret === undefined))
    report(
      "AG_NOTICES_RECEIVER_KIND",
      path,
      webhook === undefined ? 'a receiver with "mail" has no "secret"' : 'the key "secret" is missing',
    );
  if (mail && !file.smtp)
    report("AG_NOTICES_SMTP_MISSING", [...path, "mail"], 'the key "smtp" of the file is missing');
  if (file.hasAudit) return;
  const needing = [...(events ?? []).filter((event) => CLIENT_EVENTS.includes(event)), ...digests];
  if (needing.length > 0)
    report(
      "AG_NOTICES_NEEDS_AUDIT",
      path,
      `without an audit store nobody knows about clients: ${needing.join(", ")}`,
    );
}

type Checked = Pick<NoticesDefinition, "smtp"> & Pick<NoticesContext, "hasAudit">;

/** Reports patterns and zones that the library can't use. */
function checkDigests({ daily, weekly, zone }: NoticesDefinition["digests"], report: ReportProblem): void {
  const problemOf = (pattern: string, timezone: string): string | undefined => {
    try {
      new Cron(pattern, { timezone, mode: "5-part" }).nextRun(new Date(0));
      return undefined;
    } catch (error) {
      return errorText(error);
    }
  };
  if (problemOf("0 0 * * *", zone) !== undefined)
    return report(
      "AG_NOTICES_ZONE",
      ["digests", "zone"],
      `"${zone}" is not a time zone, such as Europe/Berlin`,
    );
  for (const [key, pattern] of Object.entries({ daily, weekly })) {
    const problem = problemOf(pattern, zone);
    if (problem !== undefined)
      report("AG_NOTICES_CRON", ["digests", key], `"${pattern}" is not a pattern of five fields: ${problem}`);
  }
}

/** Reads the key of a webhook. */
function webhookOf(
  name: string,
  { webhook: url, secret }: ReceiverDefinition,
  readsSecrets: boolean,
  report: ReportProblem,
): WebhookTarget | undefined {
  if (url === undefined || secret === undefined) return undefined;
  if (!readsSecrets) return { url, key: Buffer.alloc(0) };
  const path = ["receivers", name, "secret"];
  const text = readSecret(secret, path, report);
  if (text === undefined) return undefined;
  const key = readKey(text);
  if (key) return { url, key };
  report("AG_NOTICES_SECRET_INVALID", path, "the secret is not whsec_ and 24 to 64 bytes in Base64");
  return undefined;
}

function mailServerOf(
  { smtp }: NoticesDefinition,
  readsSecrets: boolean,
  report: ReportProblem,
): MailServer | undefined {
  if (!smtp) return undefined;
  const { from } = smtp;
  const path = ["smtp", "url"];
  const text = readsSecrets ? readSecret(smtp.url, path, report) : "smtp://localhost";
  if (text === undefined) return undefined;
  const url = readMailUrl(text);
  if (url) return { url, from };
  report("AG_NOTICES_SMTP_URL", path, "the address of the mail server is not smtp://host or smtps://host");
  return undefined;
}

function compile(
  definition: NoticesDefinition,
  { hasAudit, readsSecrets }: NoticesContext,
  report: ReportProblem,
): NoticesPlan {
  const { receivers, contacts, digests } = definition;
  for (const [name, receiver] of Object.entries(receivers))
    checkReceiver(name, receiver, { smtp: definition.smtp, hasAudit }, report);
  if (contacts && !definition.smtp)
    report("AG_NOTICES_SMTP_MISSING", ["contacts"], 'the key "smtp" of the file is missing');
  if (contacts && !hasAudit)
    report("AG_NOTICES_NEEDS_AUDIT", ["contacts"], "without an audit store nobody knows about clients");
  checkDigests(digests, report);
  return {
    smtp: mailServerOf(definition, readsSecrets, report),
    contacts,
    receivers: Object.entries(receivers).flatMap(([name, receiver]): Receiver[] => {
      const webhook = webhookOf(name, receiver, readsSecrets, report);
      const target = webhook ?? (receiver.mail && { to: receiver.mail });
      if (!target) return [];
      const { events = EVENTS } = receiver;
      return [{ name, target, events: new Set(events), digests: new Set(receiver.digests) }];
    }),
    nextDigest(digest, after) {
      const next = new Cron(digests[digest], { timezone: digests.zone, mode: "5-part" }).nextRun(
        new Date(after),
      );
      return next?.getTime() ?? Infinity;
    },
  };
}

/** The kind of file of `NOTICES_FILE`. Secrets are read with it. */
export const noticesFile = (context: NoticesContext): OperatorFileKind<NoticesDefinition, NoticesPlan> => ({
  schema: noticesDefinition,
  compile: (definition, report) => compile(definition, context, report),
});
