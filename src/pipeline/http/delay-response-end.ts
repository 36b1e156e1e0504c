import type { ServerResponse } from "node:http";

/**
 * Delays the end of a response until `done` resolves: the last byte of its length, or the end of its chunks. All
 * bytes before are sent as they come. Where `done` rejects, `onFailure` decides what the client gets: nothing that is held
 * is sent.
 */
export function delayResponseEnd(
  response: ServerResponse,
  done: () => Promise<void>,
  onFailure: () => void = () => void response.destroy(),
): void {
  const [write, end] = [response.write.bind(response), response.end.bind(response)];
  let remaining: number | undefined;
  let lastChunk: Buffer | string = "";
  let hasEnded = false;

  const writeOrHold = (chunk: Buffer | string): boolean => {
    remaining = (remaining ?? Number(response.getHeader("content-length") ?? Infinity)) - chunk.length;
    if (remaining > 0) return write(chunk);
    lastChunk = chunk;
    return true;
  };
  const endLater = (chunk: Buffer | string = ""): ServerResponse => {
    if (hasEnded) return response;
    hasEnded = true;
    if (chunk.length > 0) lastChunk = chunk;
    done().then(
      () => end(lastChunk),
      () => {
        Object.assign(response, { write, end });
        onFailure();
      },
    );
    return response;
  };
  response.write = writeOrHold as typeof response.write;
  response.end = endLater as typeof response.end;
}
