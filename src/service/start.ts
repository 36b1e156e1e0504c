import { setTimeout as wait } from "node:timers/promises";
import { createAdminApp } from "../console/admin-app.ts";
import { writeErrors } from "../dialect/errors.ts";
import { summarise } from "../mapping/summary.ts";
import type { Settings } from "../settings/table.ts";
import { listen, type HttpServer } from "./http-server.ts";
import { closeParts, openParts, type Parts } from "./parts.ts";
import { createPublicApp } from "./public-app.ts";

/** How long the start waits for the catalogs; a v4 that is slower finds a gateway that runs and is not ready yet. */
const FIRST_READING_MS = 2000;

/** How long a request of the admin listener may go on at the end. */
const LAST_LOOK_MS = 100;

/** A running gateway. */
export interface Service {
  readonly url: string;
  /** Undefined where the admin listener is off. */
  readonly adminUrl: string | undefined;
  /** A token of the embedded sandbox, where that is used. */
  readonly sandboxToken: string | undefined;
  readonly upstreamUrl: string;
  /** Why it is not ready; empty when it is. */
  readiness(): readonly string[];
  /** Drains and ends: readiness goes, requests in flight end, the audit is flushed. */
  stop(): Promise<void>;
}

type Readiness = Service["readiness"];

/** Begins to listen, the public listener first. What listens already stands in the list when another fails to. */
async function listenAll(
  settings: Settings,
  parts: Parts,
  readiness: Readiness,
  servers: HttpServer[],
): Promise<void> {
  const { pack, audit, metrics, shared, v4 } = parts;
  const badRequest = JSON.stringify(
    writeErrors([{ reason: "This is not an HTTP request." }], pack.dialect.errors),
  );
  const { HOST, PORT, ADMIN_HOST, ADMIN_PORT, ADMIN_TOKEN } = settings;
  servers.push(
    await listen({ host: HOST, port: PORT, handler: createPublicApp(settings, parts), badRequest }),
  );
  if (ADMIN_PORT === "off") return;
  const admin = createAdminApp({
    ...(ADMIN_TOKEN !== undefined && { token: ADMIN_TOKEN }),
    host: ADMIN_HOST,
    readiness,
    audit,
    filterHeader: pack.dialect.filter.header,
    metrics,
    purgeTokens: shared.tokens.purge,
    mappings: () => summarise(pack),
    sandbox: v4.sandbox,
  });
  servers.push(await listen({ host: ADMIN_HOST, port: ADMIN_PORT, handler: admin, badRequest }));
}

/**
 * Builds a gateway from its settings and starts it. While v4 is down it runs and is not ready, and becomes
 * ready by itself.
 *
 * @throws {PackError} for a pack that can't be used; an error of the system for a port or folder that can't.
 */
export async function startService(settings: Settings): Promise<Service> {
  const parts = await openParts(settings);
  const { catalogs, audit, state, v4 } = parts;
  const servers: HttpServer[] = [];
  let draining = false;

  const readiness = (): string[] => [
    ...(draining ? ["draining"] : []),
    ...catalogs.missing().map((reason) => `catalog ${reason}`),
    ...[audit?.fault() ?? []].flat(),
    ...(state.ready() ? [] : ["the state store does not answer"]),
  ];

  async function stop(): Promise<void> {
    if (draining) return;
    draining = true;
    catalogs.stop();
    const [gateway, ...others] = servers;
    await gateway?.drain(settings.SHUTDOWN_GRACE_MS);
    await closeParts(parts, () => Promise.all(others.map((server) => server.drain(LAST_LOOK_MS))));
  }

  try {
    await listenAll(settings, parts, readiness, servers);
  } catch (error) {
    await stop();
    throw error;
  }
  await Promise.race([catalogs.refresh(), wait(FIRST_READING_MS, undefined, { ref: false })]);
  const [gateway, admin] = servers;
  return {
    url: gateway?.url ?? "",
    adminUrl: admin?.url,
    sandboxToken: v4.sandbox?.tokens.full,
    upstreamUrl: v4.origin.href.replace(/\/$/, ""),
    readiness,
    stop,
  };
}
