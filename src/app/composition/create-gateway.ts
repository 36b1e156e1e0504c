import { createControls, type GatewayControls, type OpenGateway } from "./controls.ts";
import type { GatewayOptions } from "./options.ts";
import { readGatewayOptions } from "./read-options.ts";
import { startService, type Service } from "./start.ts";

/**
 * A gateway inside a program, created by {@link createGateway}.
 *
 * @example
 * ```ts
 * import { createGateway, type Gateway } from "alpha-gateway";
 *
 * const gateway: Gateway = createGateway({ sandbox: true, port: 0, adminPort: "off" });
 * await gateway.start();
 * console.log(gateway.url, await gateway.ready());
 * await gateway.stop();
 * ```
 */
export interface Gateway extends GatewayControls {
  /**
   * Starts the listeners. Resolves when requests are accepted, even if v4 is down, which {@link Gateway.ready} reports.
   * While the gateway starts or runs, another call waits for the same start. After {@link Gateway.stop}, or after a
   * start that failed, it starts again. A start that fails closes everything that it opened.
   *
   * @throws {PackError} If the pack is invalid.
   * @throws {AuditUnavailableError} or {StateUnavailableError} If a store can't be opened.
   * @throws {ListenError} If it can't listen on an address.
   */
  start(): Promise<void>;
  /**
   * Shuts down gracefully: in-flight requests finish within `shutdownGraceMs`, and the audit is committed. If a start
   * is in progress, it is awaited first. Does nothing if the gateway is not running.
   */
  stop(): Promise<void>;
  /** Returns why the gateway is not ready, such as `catalog datacenter: …`. Empty if it is ready. */
  ready(): Promise<readonly string[]>;
  /** The address of the public listener, such as `http://127.0.0.1:8080`. @throws {Error} If the gateway is not running. */
  readonly url: string;
  /** The address of the admin listener; undefined if `adminPort` is `"off"`. @throws {Error} If the gateway is not running. */
  readonly adminUrl: string | undefined;
}

/**
 * Creates a whole gateway inside a program: a public listener, an admin listener, and the stores. It does what
 * `alpha-gateway serve` does, in one process, without handling signals.
 *
 * @param options The settings in camel case. See {@link GatewayOptions}.
 * @throws {SettingsError} If options are invalid, with all problems.
 * @example
 * ```ts
 * import { createGateway } from "alpha-gateway";
 *
 * const gateway = createGateway({ upstreamUrl: "https://api.example.com", port: 8080, adminPort: "off" });
 * await gateway.start();
 * console.log(`alpha is served at ${gateway.url}`);
 * process.once("SIGTERM", () => void gateway.stop());
 * ```
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { settings, host, loaded } = readGatewayOptions(options);
  let service: Service | undefined;
  let starting: Promise<Service> | undefined;
  let stopping: Promise<void> | undefined;

  async function open(): Promise<Service> {
    await stopping?.catch(() => {});
    service = await startService(settings, { environment: {}, host, loaded });
    return service;
  }

  async function close(started: Promise<Service>): Promise<void> {
    const running = await started.catch(() => undefined);
    service = undefined;
    await running?.stop();
  }

  function running(): Service {
    if (!service)
      throw Object.assign(new Error("The gateway does not run: await gateway.start() first."), {
        code: "AG_GATEWAY_NOT_RUNNING",
      });
    return service;
  }

  const whenOpen = async (): Promise<OpenGateway> => running().open;

  return {
    ...createControls(settings, whenOpen),
    async start() {
      starting ??= open();
      const started = starting;
      try {
        await started;
      } catch (error) {
        if (starting === started) starting = undefined;
        throw error;
      }
    },
    stop() {
      if (!starting) return stopping ?? Promise.resolve();
      stopping = close(starting);
      starting = undefined;
      return stopping;
    },
    async ready() {
      if (service) return service.readiness();
      if (starting) return ["starting"];
      return ["not started"];
    },
    get url() {
      return running().url;
    },
    get adminUrl() {
      return running().adminUrl;
    },
  };
}
