/** Slow clients, and clients that disconnect early. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Pool } from "undici";

/** The pause between two parts that a slow client sends or reads. */
const SLOW_MS = 200;

/** Long enough for the gateway to receive the first part of a request. */
const MOMENT_MS = 20;

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  // The gateway may reset the connection after it has been closed here.
  return socket.on("error", () => {});
}

/** Sends a request head line by line. @throws {Error} if the response is not a 200. */
export async function slowToAsk(url: string, path: string, as: string): Promise<void> {
  const socket = await open(url);
  const lines = [`GET ${path} HTTP/1.1`, "Host: gateway", `Authorization: ${as}`, "Connection: close", ""];
  for (const line of lines) {
    socket.write(`${line}\r\n`);
    await wait(SLOW_MS);
  }
  const response = await text(socket);
  if (!response.startsWith("HTTP/1.1 200 ")) throw new Error(`a slow head got ${response.slice(0, 100)}`);
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

/** Sends a request and disconnects before its response or while it arrives. */
export async function leaveBefore(url: string, path: string, as: string): Promise<void> {
  const socket = await open(url);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${as}\r\n\r\n`);
  await wait(1);
  socket.destroy();
}

/** Disconnects after the first bytes of a file. */
export async function leaveWhileReading(url: string, path: string, as: string): Promise<void> {
  const socket = await open(url);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${as}\r\n\r\n`);
  await Promise.race([once(socket, "data"), once(socket, "close")]);
  socket.destroy();
}

/** Disconnects when half of its file is sent. */
export async function leaveWhileSending(url: string, path: string, as: string, file: Buffer): Promise<void> {
  const socket = await open(url);
  const head = [`PUT ${path} HTTP/1.1`, "Host: gateway", `Authorization: ${as}`, "Content-Type: image/png"];
  socket.write(`${head.join("\r\n")}\r\nContent-Length: ${file.length}\r\n\r\n`);
  socket.write(file.subarray(0, file.length / 2));
  await wait(MOMENT_MS);
  socket.destroy();
}
