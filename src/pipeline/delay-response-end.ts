import type { ServerResponse } from "node:http";

/**
 * Keeps back what a client takes for the end of an answer, until something is done: the last byte of a length, or the
 * end of chunks. All before it goes out as it comes. Where it can't be done, the answer is broken off.
 */
export function delayResponseEnd(response: ServerResponse, done: () => Promise<void>): void {
  const [write, end] = [response.write.bind(response), response.end.bind(response)];
  let left: number | undefined;
  let last: Buffer | string = "";
  let ended = false;

  const hold = (chunk: Buffer | string): boolean => {
    left = (left ?? Number(response.getHeader("content-length") ?? Infinity)) - chunk.length;
    if (left > 0) return write(chunk);
    last = chunk;
    return true;
  };
  const endLater = (chunk: Buffer | string = ""): ServerResponse => {
    if (ended) return response;
    ended = true;
    if (chunk.length > 0) last = chunk;
    done().then(
      () => end(last),
      () => response.destroy(),
    );
    return response;
  };
  response.write = hold as typeof response.write;
  response.end = endLater as typeof response.end;
}
