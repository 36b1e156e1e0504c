import { setTimeout as wait } from "node:timers/promises";
import type { Settings } from "../settings/table.ts";
import { listenForAdmins } from "./admin.ts";
import { badRequestBody } from "./bad-request.ts";
import { listen, type HttpServer } from "./http-server.ts";
import { closeParts, openParts, type Parts } from "./parts.ts";
import { createPublicApp } from "./public-app.ts";

/** How long the start waits for the catalogs; a v4 that is slower finds a gateway that runs and is not ready yet. */
const FIRST_READING_MS = 2000;

/** How long a request of the admin listener may go on at the end. */
export const LAST_LOOK_MS = 100;

/** A running gateway. */
export interface Service {
  readonly url: string;
  /** Undefined where the admin listener is off. */
  readonly adminUrl: string | undefined;
  /** A token of the embedded sandbox, where that is used. */
  readonly sandboxToken: string | undefined;
  /** An OAuth client of the embedded sandbox, where its login server is used too. */
  readonly sandboxClient: string | undefined;
  readonly upstreamUrl: string;
  /** Why it is not ready; empty when it is. */
  readiness(): readonly string[] | Promise<readonly string[]>;
  /** Drains and ends: readiness goes, requests in flight end, the audit is flushed. */
  stop(): Promise<void>;
}

/**
 * Builds a gateway from its settings and starts it. While v4 is down it runs and is not ready, and becomes
 * ready by itself.
 *
 * @throws {PackError} for a pack that can't be used; an error of the system for a port or folder that can't.
 */
export async function startService(settings: Settings): Promise<Service> {
  return serveParts(settings, await openParts(settings));
}

/** Begins to serve with parts that are open. They are closed again where that fails. */
export async function serveParts(settings: Settings, parts: Parts): Promise<Service> {
  const { pack, catalogs, audit, state, shared, metrics, v4 } = parts;
  let gateway: HttpServer | undefined;
  let admin: HttpServer | undefined;
  let draining = false;

  const readiness = (): string[] => [
    ...(draining ? ["draining"] : []),
    ...catalogs.missing().map((reason) => `catalog ${reason}`),
    ...[audit?.fault() ?? []].flat(),
    ...(state.ready() ? [] : ["the state store does not answer"]),
    ...shared.faults(),
  ];

  async function stop(): Promise<void> {
    if (draining) return;
    draining = true;
    catalogs.stop();
    await gateway?.drain(settings.SHUTDOWN_GRACE_MS);
    await closeParts(parts, async () => admin?.drain(LAST_LOOK_MS));
  }

  try {
    const { HOST: host, PORT: port } = settings;
    const handler = createPublicApp(settings, parts);
    gateway = await listen({ host, port, handler, badRequest: badRequestBody(pack) });
    const { purge } = shared.tokens;
    admin = await listenForAdmins(settings, parts, { readiness, metrics, purgeTokens: purge });
  } catch (error) {
    await stop();
    throw error;
  }
  await Promise.race([catalogs.refresh(), wait(FIRST_READING_MS, undefined, { ref: false })]);
  return {
    url: gateway.url,
    adminUrl: admin?.url,
    sandboxToken: v4.sandbox?.tokens.full,
    sandboxClient: settings.AUTH_URL ? undefined : v4.sandbox?.application()?.id,
    upstreamUrl: v4.origin.href.replace(/\/$/, ""),
    readiness,
    stop,
  };
}
