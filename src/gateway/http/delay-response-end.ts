import type { ServerResponse } from "node:http";

/**
 * Delays the end of a response until `done` resolves: the last byte of its length, or the end of its chunks. All
 * bytes before are sent as they come. Where `done` resolves to a function, that decides what the client gets: nothing that is
 * held is sent.
 */
export function delayResponseEnd(
  response: ServerResponse,
  done: () => Promise<(() => void) | undefined>,
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
      (respondInstead) => {
        if (!respondInstead) return end(lastChunk);
        Object.assign(response, { write, end });
        return respondInstead();
      },
      () => response.destroy(),
    );
    return response;
  };
  response.write = writeOrHold as typeof response.write;
  response.end = endLater as typeof response.end;
}
