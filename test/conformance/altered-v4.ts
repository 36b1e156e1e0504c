/** A v4 service whose responses a test changes. It forwards all other requests to a sandbox. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { manualClock } from "../support/manual-clock.ts";
import { startSandbox } from "../../src/sandbox/create-sandbox.ts";
import { startGateway, type Gateway } from "../support/gateway.ts";

export interface V4Response {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
}

/** The body of an error of v4, about a field or about none. */
export const said = (field?: string | null): V4Response["body"] => ({
  errors: [{ reason: "No.", ...(field !== undefined && { field }) }],
});

interface Rules {
  /** Sets v4's response to a call such as `POST /vm/instances`, without its query, for the next `times` calls. */
  respondTo(call: string, reply: V4Response, times?: number): void;
  /** Changes v4's response to a call. */
  changeResponse(call: string, change: (body: never) => unknown): void;
}

export interface AlteredGateway extends Gateway, Rules {
  /** Requests to v4 since the last `resetRules()`. */
  readonly calls: { readonly method: string; readonly path: string; readonly body: unknown }[];
  /** Removes all rules, so that the sandbox responds. */
  resetRules(): void;
}

interface Rule {
  readonly response?: V4Response;
  readonly change?: (body: never) => unknown;
  left: number;
}

async function read(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/**
 * Starts a gateway in front of a sandbox whose responses can be changed.
 *
 * @param prepare sets rules before the gateway reads the catalogs
 */
export async function startAlteredGateway(
  settings: Readonly<Record<string, string>> = {},
  prepare: (v4: Rules) => void = () => {},
): Promise<AlteredGateway> {
  const clock = manualClock(Date.UTC(2026, 4, 20, 12));
  const sandbox = await startSandbox({ clock });
  const rules = new Map<string, Rule>();
  const calls: AlteredGateway["calls"] = [];

  function ruleFor(call: string): Rule | undefined {
    const rule = rules.get(call);
    if (!rule || rule.left === 0) return undefined;
    rule.left -= 1;
    return rule;
  }

  const server = createServer((request, response) => {
    void (async () => {
      const { method = "", url = "", headers } = request;
      const body = await read(request);
      const path = url.split("?", 1)[0] ?? "";
      calls.push({ method, path, body: body === "" ? undefined : JSON.parse(body) });
      const rule = ruleFor(`${method} ${path.replace(/^\/v4/, "")}`);
      if (rule?.response) {
        const { status = 200, headers: headersOfRule = {}, body: bodyOfRule } = rule.response;
        response.writeHead(status, { "content-type": "application/json", ...headersOfRule });
        response.end(
          typeof bodyOfRule === "string"
            ? bodyOfRule
            : bodyOfRule === undefined
              ? ""
              : JSON.stringify(bodyOfRule),
        );
        return;
      }
      const { host: _host, connection: _connection, "content-length": _length, ...passed } = headers;
      const reply = await fetch(sandbox.url + url, {
        method,
        headers: passed as Record<string, string>,
        ...(body !== "" && { body }),
      });
      const given = await reply.text();
      response.writeHead(reply.status, {
        "content-type": "application/json",
        "x-oauth-scopes": reply.headers.get("x-oauth-scopes") ?? "",
      });
      response.end(rule?.change ? JSON.stringify(rule.change(JSON.parse(given) as never)) : given);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const alter: Rules = {
    respondTo: (call, response, times = Infinity) => void rules.set(call, { response, left: times }),
    changeResponse: (call, change) => void rules.set(call, { change, left: Infinity }),
  };
  prepare(alter);
  const gateway = await startGateway({ UPSTREAM_URL: url, ...settings });
  calls.length = 0;
  return {
    ...gateway,
    ...alter,
    clock,
    calls,
    resetRules() {
      rules.clear();
      calls.length = 0;
    },
    async stop() {
      await gateway.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sandbox.close();
    },
  };
}
