/** An example of `examples/`: its service on a port, and a gateway with its pack in front of it. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { openGateway, type TestGateway, type TestSettings } from "../../support/gateway.ts";
import { request, type RequestOptions, type TestResponse } from "../../support/request.ts";

export interface ExampleGateway extends Pick<TestGateway, "readAudit" | "stop"> {
  /** Sends a request of a client of the old API: `send("GET /tasks")`. */
  send(call: string, options?: RequestOptions): Promise<TestResponse>;
}

/**
 * Starts the service and the gateway of an example.
 *
 * @param headers Headers of all requests of the client.
 */
export async function startExample(
  name: string,
  service: Server,
  headers: RequestOptions["headers"] = {},
  settings: TestSettings = {},
): Promise<ExampleGateway> {
  await once(service.listen(0, "127.0.0.1"), "listening");
  const { port } = service.address() as AddressInfo;
  const gateway = await openGateway({
    MAPPINGS_DIR: `examples/${name}/pack`,
    UPSTREAM_URL: `http://127.0.0.1:${port}`,
    ...settings,
  });
  return {
    send: (call, options = {}) =>
      request(gateway.app, call, { ...options, headers: { ...headers, ...options.headers } }),
    readAudit: gateway.readAudit,
    async stop() {
      await gateway.stop();
      service.close();
      service.closeAllConnections();
    },
  };
}
