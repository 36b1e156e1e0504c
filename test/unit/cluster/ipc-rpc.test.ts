/** How processes ask each other: with little patience in a request, with much at a start. */
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRpc, type RpcApi, type RpcChannel } from "../../../src/app/cluster/ipc-rpc.ts";

/** Two ends of a channel, the second of which hears everything so many milliseconds late. */
function ends(lateMs: number): [RpcChannel, RpcChannel] {
  const listeners: ((message: unknown) => void)[] = [];
  const endOf = (own: number, other: number): RpcChannel => ({
    send: (message) => void wait(own === 0 ? lateMs : 0).then(() => listeners[other]?.(message)),
    on: (_event, listener) => (listeners[own] = listener),
  });
  return [endOf(0, 1), endOf(1, 0)];
}

interface Theirs extends RpcApi {
  pack(): string;
}

test("a primary that is busy for more than a second fails no worker that starts", async () => {
  const [worker, primary] = ends(1300);
  createRpc(primary, { pack: () => "files" });
  const line = createRpc<Theirs>(worker, {});
  const [asked, patient] = [line.call("pack"), line.askPatiently("pack")];
  await expect(asked).rejects.toThrow("no answer within 1000 ms");
  await expect(patient).resolves.toBe("files");
});
