/** Receivers of notices: a webhook and a mail server that listen, and collect what they get. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { Webhook } from "standardwebhooks";

/** A key of signatures, as Standard Webhooks writes it. */
export const WEBHOOK_SECRET = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;

/** A notice that a webhook got. */
export interface ReceivedNotice {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

export interface WebhookReceiver {
  readonly url: string;
  /** Notices whose signature is valid, in order. */
  readonly received: ReceivedNotice[];
  /** Requests, those with an invalid signature too. */
  requests(): number;
  /** What happens to requests from now on; undefined: they get 204. */
  respondWith(respond: RequestListener | undefined): void;
  close(): Promise<void>;
}

/** Starts a webhook that checks signatures with the library of Standard Webhooks. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedNotice[] = [];
  let requests = 0;
  let respond: RequestListener | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests += 1;
      if (respond) {
        respond(request, response);
        return;
      }
      const headers = request.headers as Record<string, string>;
      const text = Buffer.concat(chunks).toString();
      try {
        const body = new Webhook(WEBHOOK_SECRET).verify(text, headers) as ReceivedNotice["body"];
        received.push({ id: headers["webhook-id"] ?? "", headers, body });
        response.writeHead(204).end();
      } catch {
        response.writeHead(401).end();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    requests: () => requests,
    respondWith: (next) => void (respond = next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A mail that a server got. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

export interface MailReceiver {
  readonly url: string;
  readonly received: ReceivedMail[];
  /** Refuses recipients with this status; undefined: takes them. */
  rejectWith(status: number | undefined): void;
  close(): Promise<void>;
}

const MIME_ENCODED = /=\?utf-8\?([BQ])\?([^?]*)\?=\s*/gi;

const decodeQuoted = (text: string): string =>
  decodeURIComponent(
    text
      .replaceAll("%", "%25")
      .replaceAll(/=\r\n/g, "")
      .replaceAll(/=([0-9A-F]{2})/g, "%$1"),
  );

const decodeHeader = (value: string): string =>
  value.replaceAll(MIME_ENCODED, (_, kind: string, text: string) =>
    kind.toUpperCase() === "B"
      ? Buffer.from(text, "base64").toString()
      : decodeQuoted(text.replaceAll("_", " ")),
  );

function parseMail(from: string, to: readonly string[], raw: string): ReceivedMail {
  const end = raw.indexOf("\r\n\r\n");
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), decodeHeader(line.slice(colon + 1).trim())];
    }),
  );
  const body = raw.slice(end + 4);
  const encoding = headers.get("content-transfer-encoding");
  const text =
    encoding === "quoted-printable"
      ? decodeQuoted(body)
      : encoding === "base64"
        ? Buffer.from(body, "base64").toString()
        : body;
  return { from, to, headers, text: text.replaceAll("\r\n", "\n") };
}

/**
 * Starts a mail server that takes mails for everybody: without TLS, or with this certificate.
 */
export async function startMailReceiver(certificate?: {
  readonly cert: string;
  readonly key: string;
}): Promise<MailReceiver> {
  const received: ReceivedMail[] = [];
  let rejection: number | undefined;
  const server = new SMTPServer({
    ...(certificate && { secure: true, ...certificate }),
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo({ address }, _session, callback) {
      if (rejection === undefined) return callback();
      callback(Object.assign(new Error(`no mailbox ${address} here`), { responseCode: rejection }));
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = envelope;
        const from = mailFrom ? mailFrom.address : "";
        const to = rcptTo.map(({ address }) => address);
        received.push(parseMail(from, to, Buffer.concat(chunks).toString()));
        callback();
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    url: `${certificate ? "smtps" : "smtp"}://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    rejectWith: (status) => void (rejection = status),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
