/** Clients that take their time, and clients that don't wait. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Pool } from "undici";

/** Between two parts of what a slow client sends or reads. */
const SLOW_MS = 200;

/** As long as it takes that something of a request is in. */
const MOMENT_MS = 20;

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  // An end that comes after it has been closed here is nobody's business.
  return socket.on("error", () => {});
}

/** Sends a head line by line. @throws {Error} where it has no answer with 200. */
export async function slowToAsk(url: string, path: string, as: string): Promise<void> {
  const socket = await open(url);
  const lines = [`GET ${path} HTTP/1.1`, "Host: gateway", `Authorization: ${as}`, "Connection: close", ""];
  for (const line of lines) {
    socket.write(`${line}\r\n`);
    await wait(SLOW_MS);
  }
  const answer = await text(socket);
  if (!answer.startsWith("HTTP/1.1 200 ")) throw new Error(`a slow head got ${answer.slice(0, 100)}`);
}

/** Reads a file with pauses. @throws {Error} where it is not whole. */
export async function slowToRead(pool: Pool, path: string, as: string, length: number): Promise<void> {
  const { body } = await pool.request({ method: "GET", path, headers: { authorization: as } });
  let read = 0;
  for await (const chunk of body) {
    read += (chunk as Buffer).length;
    await wait(SLOW_MS);
  }
  if (read !== length) throw new Error(`a slow reader got ${read} bytes of ${length}`);
}

/** Asks, and is gone before or after its answer begins. */
export async function leaveBefore(url: string, path: string, as: string): Promise<void> {
  const socket = await open(url);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${as}\r\n\r\n`);
  await wait(1);
  socket.destroy();
}

/** Is gone when it has the first bytes of a file. */
export async function leaveWhileReading(url: string, path: string, as: string): Promise<void> {
  const socket = await open(url);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${as}\r\n\r\n`);
  await Promise.race([once(socket, "data"), once(socket, "close")]);
  socket.destroy();
}

/** Is gone when a half of its file is sent. */
export async function leaveWhileSending(url: string, path: string, as: string, file: Buffer): Promise<void> {
  const socket = await open(url);
  const head = [`PUT ${path} HTTP/1.1`, "Host: gateway", `Authorization: ${as}`, "Content-Type: image/png"];
  socket.write(`${head.join("\r\n")}\r\nContent-Length: ${file.length}\r\n\r\n`);
  socket.write(file.subarray(0, file.length / 2));
  await wait(MOMENT_MS);
  socket.destroy();
}
