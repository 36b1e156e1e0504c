/** A receiver of notices: a webhook that listens, and collects what it gets. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { endsWithTest } from "./ends-with-test.ts";

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
    close: endsWithTest(async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }),
  };
}
