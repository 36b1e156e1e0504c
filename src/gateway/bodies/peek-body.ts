/** Reads a body ahead of its reader. */
import type { IncomingMessage } from "node:http";
import { hasBody } from "./receive-body.ts";

/** Milliseconds to wait for a body. */
const PATIENCE_MS = 10_000;

/** Ends an empty body: its stream has already ended, and the next reader would wait for the end. */
function sayEmpty({ headers }: IncomingMessage): void {
  delete headers["transfer-encoding"];
  headers["content-length"] = "0";
}

/**
 * Reads a short body and puts it back, so that the next reader of the request gets all of it.
 *
 * @param most Maximum number of bytes. Longer bodies are not read.
 * @returns undefined for a body that is longer, takes more than ten seconds, or is incomplete
 */
export function peekBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const declared = Number(request.headers["content-length"] ?? Number.NaN);
  if (!hasBody(request) || declared > most || request.readableEnded) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;

    function settle(isWhole: boolean): void {
      clearTimeout(timer);
      request.off("readable", onReadable).off("close", onClose);
      const body = Buffer.concat(chunks, length);
      // This must happen before the stream emits its end.
      if (length > 0 && !request.destroyed) request.unshift(body);
      if (length === 0 && isWhole) sayEmpty(request);
      resolve(isWhole ? body : undefined);
    }
    function onReadable(): void {
      while (request.readableLength > 0) {
        const chunk = request.read() as Buffer;
        chunks.push(chunk);
        length += chunk.length;
        if (length === declared) return settle(true);
        if (length > most) return settle(false);
      }
      if (request.complete) settle(true);
    }
    const onClose = (): void => settle(false);
    const timer = setTimeout(() => settle(false), PATIENCE_MS);
    // An error without a listener would end the process. "close" follows it.
    request
      .on("readable", onReadable)
      .on("close", onClose)
      .on("error", () => {});
  });
}
