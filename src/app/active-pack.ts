import type { RequestListener } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Settings } from "../config/schema.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import { badRequestBody } from "./bad-request.ts";
import { connectCatalogs } from "./connect-catalogs.ts";
import type { LoadedPack } from "./load-pack.ts";
import type { Dependencies } from "./dependencies.ts";
import { createPublicApp } from "./public-app.ts";

/** All of a gateway that depends on its pack. It is replaced whole, and a request keeps the one it began with. */
interface Edition extends LoadedPack {
  readonly catalogs: CatalogCache;
  readonly handler: RequestListener;
  /** The JSON body of an answer to something that is not HTTP. */
  readonly badRequest: string;
}

export interface ActivePack {
  /** The one that requests begin with now. */
  current(): Edition;
  /**
   * Makes one of another pack, reads its catalogs, and lets requests begin with it. While v4 gives no catalogs
   * the one before goes on serving, and they are tried again.
   */
  replace(loaded: LoadedPack, overtaken: () => boolean): Promise<void>;
  /** Ends what they do in the background. */
  stop(): void;
}

/** Between two tries to read the catalogs of a pack that is to be taken into use. */
const RETRY_MS = 2000;

/** Longer than any request may take. */
const LONGEST_REQUEST_MS = 600_000;

export function createActivePack(settings: Settings, parts: Dependencies): ActivePack {
  const inUse = new Set<Edition>();
  let current = make(parts.initialPack);
  let stopped = false;

  function make(loaded: LoadedPack): Edition {
    const { log, upstream } = parts;
    const catalogs = connectCatalogs(
      loaded.pack,
      upstream,
      settings.CATALOG_TTL_SECONDS,
      (catalog, message) =>
        log.warn({ code: "AG_CATALOG_READ_FAILED", catalog, message }, "a catalog could not be read"),
    );
    const handler = createPublicApp(settings, { ...parts, pack: loaded.pack, catalogs });
    const edition = { ...loaded, catalogs, handler, badRequest: badRequestBody(loaded.pack) };
    inUse.add(edition);
    return edition;
  }

  function end(edition: Edition): void {
    edition.catalogs.stop();
    inUse.delete(edition);
  }

  /** Resolves when the catalogs are no less than those that serve now, or nobody wants them any more. */
  async function complete({ catalogs }: Edition, unwanted: () => boolean): Promise<void> {
    for (;;) {
      await catalogs.refresh();
      const complete = catalogs.missing().length === 0 || current.catalogs.missing().length > 0;
      if (complete || unwanted()) return;
      await wait(RETRY_MS, undefined, { ref: false });
    }
  }

  return {
    current: () => current,
    async replace(loaded, overtaken) {
      const fresh = make(loaded);
      const unwanted = (): boolean => stopped || overtaken();
      await complete(fresh, unwanted);
      if (unwanted()) return end(fresh);
      const before = current;
      current = fresh;
      // Requests under way may still read catalogs of their own.
      void parts.inFlight.idle(LONGEST_REQUEST_MS).then(() => end(before));
    },
    stop() {
      stopped = true;
      for (const edition of inUse) edition.catalogs.stop();
    },
  };
}
