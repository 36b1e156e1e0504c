import { once } from "node:events";

interface Reply {
  readonly id: number;
  readonly result: { readonly usedSize?: number };
}

/**
 * The heap size of a process after a full garbage collection, in bytes. Without the collection it would depend on
 * when the collector last ran.
 *
 * @param url of its inspector
 */
export async function heapOf(url: string): Promise<number> {
  const socket = new WebSocket(url);
  await once(socket, "open");

  async function call(id: number, method: string): Promise<Reply["result"]> {
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [{ data }] = (await once(socket, "message")) as [{ readonly data: string }];
      const reply = JSON.parse(data) as Reply;
      if (reply.id === id) return reply.result;
    }
  }

  try {
    await call(1, "HeapProfiler.collectGarbage");
    return (await call(2, "Runtime.getHeapUsage")).usedSize ?? Number.NaN;
  } finally {
    socket.close();
  }
}
