import { setTimeout as wait } from "node:timers/promises";
import type { RequestHandler } from "express";
import { isObserving, type Settings } from "../../base/index.ts";
import {
  type CatalogCache,
  connectCatalogs,
  PACK_HEADER,
  readLinkBase,
  type UpstreamTokenTable,
} from "../../gateway/index.ts";
import { createLiveComparison, type Exchange } from "../../compare/index.ts";
import type { LoadedPack } from "../../pack/index.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkPagePaths } from "../../migration/index.ts";
import { readUpstreamTokens, refreshUpstreamTokens } from "../services/read-upstream-tokens.ts";
import { createObserveRouter } from "../listeners/observe-app.ts";
import { createPublicRouter } from "../listeners/public-app.ts";

/** A pack, and everything of a gateway that depends on it. A request keeps the one that it started with. */
export interface ServingPack extends LoadedPack {
  readonly catalogs: CatalogCache;
  readonly upstreamTokens: UpstreamTokenTable | undefined;
  readonly router: RequestHandler;
}

/** The pack that serves requests. It is replaced as a whole. */
export interface ActivePack {
  /** The pack for requests that start now. */
  current(): ServingPack;
  /** Serves a request with that pack. */
  readonly handle: RequestHandler;
  /**
   * Reads the catalogs of another pack, then serves new requests with it. While the catalogs can't be read, the previous
   * pack serves requests, and the catalogs are tried again.
   */
  replace(loaded: LoadedPack, isSuperseded: () => boolean): Promise<void>;
  /** The pack that testers may ask for, if there is a candidate. */
  candidate(): ServingPack | undefined;
  /** Reads the catalogs of a candidate, then serves the requests that ask for it. Undefined: the candidate was removed. */
  offer(loaded: LoadedPack | undefined, isSuperseded: () => boolean): Promise<void>;
  /** Reads the tokens of the settings again. @returns Whether any is different. @throws {SettingsError} The old ones stay. */
  refreshTokens(): boolean;
  /** Stops what packs do in the background. */
  stop(): void;
}

/** Pause between two attempts to read the catalogs of a new pack. */
const RETRY_MS = 2000;

/** Longer than any request may take. */
const MAX_REQUEST_MS = 600_000;

export function createActivePack(settings: Settings, dependencies: Dependencies): ActivePack {
  const serving = new Set<ServingPack>();
  const folder = settings.CANDIDATE_MAPPINGS_DIR;
  const comparison =
    folder === undefined
      ? undefined
      : createLiveComparison(settings, {
          // While the candidate serves, testers may ask for another pack, which is not compared.
          candidate: () => (candidate?.files.directory === folder ? candidate : undefined),
          directory: dependencies.clients.current,
          plan: dependencies.plan,
          report: dependencies.reportComparison,
          log: dependencies.log,
        });
  let candidate: ServingPack | undefined;
  let isStopped = false;
  let current = create(dependencies.initialPack, false);

  function create(loaded: LoadedPack, isForTesters: boolean): ServingPack {
    const { log, upstream } = dependencies;
    const upstreamTokens = readUpstreamTokens(settings, loaded.pack);
    // Checked before the catalogs start to be read.
    readLinkBase(settings, loaded.pack);
    checkPagePaths(settings, loaded.pack);
    const catalogs = connectCatalogs(
      loaded.pack,
      upstream,
      settings.CATALOG_TTL_SECONDS,
      (catalog, message) =>
        log.warn({ code: "AG_CATALOG_READ_FAILED", catalog, message }, "a catalog could not be read"),
      upstreamTokens,
      (catalog, { count, id, message }) =>
        log.warn(
          { code: "AG_CATALOG_ROWS_LEFT_OUT", catalog, count, row: id, message },
          "rows of a catalog were left out",
        ),
    );
    const ofPack = {
      ...dependencies,
      pack: loaded.pack,
      catalogs,
      upstreamTokens,
      isForTesters,
      compare:
        comparison && !isForTesters
          ? (exchange: Exchange) => {
              // Entries of catalogs that were never read would differ.
              if (catalogs.missing().length === 0) comparison.offer(loaded.pack, exchange);
            }
          : undefined,
    };
    const { legacy } = dependencies;
    const router =
      legacy && isObserving(settings)
        ? createObserveRouter(settings, ofPack, legacy)
        : createPublicRouter(settings, ofPack);
    const pack = { ...loaded, catalogs, upstreamTokens, router };
    serving.add(pack);
    return pack;
  }

  function end(pack: ServingPack): void {
    pack.catalogs.stop();
    serving.delete(pack);
  }

  /** In-flight requests may still read the catalogs of a pack. */
  function endWhenIdle(pack: ServingPack | undefined): void {
    if (pack) void dependencies.inFlight.idle(MAX_REQUEST_MS).then(() => end(pack));
  }

  /** Tokens that were revoked are no longer accepted by any pack. A candidate that can't read them is dropped. */
  function refreshCandidateTokens(): void {
    if (!candidate) return;
    try {
      refreshTokensOf(candidate);
    } catch {
      endWhenIdle(candidate);
      candidate = undefined;
    }
  }

  /** Resolves once the catalogs are as complete as those of the current pack, or once the pack is no longer wanted. */
  async function readCatalogs({ catalogs }: ServingPack, isUnwanted: () => boolean): Promise<void> {
    for (;;) {
      await catalogs.refresh();
      const isComplete = catalogs.missing().length === 0 || current.catalogs.missing().length > 0;
      if (isComplete || isUnwanted()) return;
      await wait(RETRY_MS, undefined, { ref: false });
    }
  }

  const refreshTokensOf = ({ upstreamTokens, pack }: ServingPack): boolean =>
    refreshUpstreamTokens(upstreamTokens, settings, pack);

  /** The candidate for who asks for it. Another hash is rejected by the active pack, as a request of its client. */
  const handleWithCandidate: RequestHandler = (request, response, next) => {
    const asked = candidate && request.headers[PACK_HEADER] === candidate.pack.hash ? candidate : current;
    return asked.router(request, response, next);
  };

  return {
    current: () => current,
    candidate: () => candidate,
    refreshTokens() {
      refreshCandidateTokens();
      return refreshTokensOf(current);
    },
    handle:
      settings.CANDIDATE_MAPPINGS_DIR === undefined
        ? (request, response, next) => current.router(request, response, next)
        : handleWithCandidate,
    async replace(loaded, isSuperseded) {
      const next = create(loaded, false);
      const isUnwanted = (): boolean => isStopped || isSuperseded();
      await readCatalogs(next, isUnwanted);
      if (isUnwanted()) return end(next);
      try {
        // They may have changed while the catalogs were read.
        refreshTokensOf(next);
      } catch (error) {
        end(next);
        throw error;
      }
      endWhenIdle(current);
      current = next;
    },
    async offer(loaded, isSuperseded) {
      const next = loaded && create(loaded, true);
      await next?.catalogs.refresh();
      if (isStopped || isSuperseded()) return next && end(next);
      endWhenIdle(candidate);
      candidate = next;
    },
    stop() {
      isStopped = true;
      comparison?.stop();
      for (const pack of serving) pack.catalogs.stop();
    },
  };
}
