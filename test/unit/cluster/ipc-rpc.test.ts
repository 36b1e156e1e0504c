/** Calls between processes: a short timeout for requests, and a long one for a start. */
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { createRpc, type RpcApi, type RpcChannel } from "../../../src/app/cluster/ipc-rpc.ts";

/** Two ends of a channel. The second one gets each message after a delay. */
function createChannel(delayMs: number): [RpcChannel, RpcChannel] {
  const listeners: ((message: unknown) => void)[] = [];
  const createEnd = (index: number, other: number): RpcChannel => ({
    send: (message) => void wait(index === 0 ? delayMs : 0).then(() => listeners[other]?.(message)),
    on: (_event, listener) => (listeners[index] = listener),
  });
  return [createEnd(0, 1), createEnd(1, 0)];
}

interface Theirs extends RpcApi {
  pack(): string;
}

test("a call during a start waits for a primary that is busy for more than a second; other calls fail", async () => {
  const [worker, primary] = createChannel(1300);
  createRpc(primary, { pack: () => "files" });
  const peer = createRpc<Theirs>(worker, {});
  const [call, patientCall] = [peer.call("pack"), peer.callDuringStart("pack")];
  await expect(call).rejects.toThrow("no response within 1000 ms");
  await expect(patientCall).resolves.toBe("files");
});
