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
import type { Dependencies } from "../composition/dependencies.ts";
import { checkPagePaths } from "../../migration/index.ts";
import { readUpstreamTokens, refreshUpstreamTokens } from "../services/read-upstream-tokens.ts";
import { createObserveRouter } from "../listeners/observe-app.ts";
import { createPublicRouter } from "../listeners/public-app.ts";

/** A pack, and all parts of a gateway that depend on it. Each request uses one pack from start to end. */
interface ServingPack extends LoadedPack {
  readonly catalogs: CatalogCache;
  readonly upstreamTokens: UpstreamTokenTable | undefined;
  readonly router: RequestHandler;
}

/** Milliseconds between two attempts to read the catalogs of a new pack. */
const RETRY_MS = 2000;

/** Maximum time of a request in milliseconds. */
const MAX_REQUEST_MS = 600_000;

type LiveComparison = ReturnType<typeof createLiveComparison>;
type Compare = LiveComparison["offer"];

/**
 * Opens all parts of a gateway that depend on a pack. @param compare receives each exchange, to compare it with a
 * candidate
 */
function openServingPack(
  settings: Settings,
  dependencies: Dependencies,
  loaded: LoadedPack,
  { isForTesters, compare }: { readonly isForTesters: boolean; readonly compare: Compare | undefined },
): ServingPack {
  const { log, upstream, legacy } = dependencies;
  const upstreamTokens = readUpstreamTokens(settings, loaded.pack);
  // This is validated before the first read of the catalogs.
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
    // Entries of catalogs that were never read would differ.
    compare:
      compare &&
      ((exchange: Exchange) => void (catalogs.missing().length === 0 && compare(loaded.pack, exchange))),
  };
  const router =
    legacy && isObserving(settings)
      ? createObserveRouter(settings, ofPack, legacy)
      : createPublicRouter(settings, ofPack);
  return { ...loaded, catalogs, upstreamTokens, router };
}

/**
 * The active pack, the candidate, and earlier packs that in-flight requests still use. The active pack is replaced as a
 * whole.
 */
export class ActivePack {
  readonly #settings: Settings;
  readonly #dependencies: Dependencies;
  readonly #serving = new Set<ServingPack>();
  readonly #comparison: LiveComparison | undefined;
  #offered: ServingPack | undefined;
  #isStopped = false;
  #active: ServingPack;

  /** Starts with the given pack. A different pack can replace it. */
  constructor(settings: Settings, dependencies: Dependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
    const folder = settings.CANDIDATE_MAPPINGS_DIR;
    this.#comparison =
      folder === undefined
        ? undefined
        : createLiveComparison(settings, {
            // While the candidate serves, testers may select a pack. Their requests are not compared.
            candidate: () => (this.#offered?.files.directory === folder ? this.#offered : undefined),
            directory: dependencies.clients.current,
            plan: dependencies.plan,
            report: dependencies.reportComparison,
            log: dependencies.log,
          });
    this.#active = this.#open(dependencies.initialPack, false);
  }

  /** Returns the pack for requests that start now. */
  current = (): ServingPack => this.#active;

  /** Returns the pack that testers may select, if there is a candidate. */
  candidate = (): ServingPack | undefined => this.#offered;

  /**
   * Serves a request. The candidate serves the testers that select it. The active pack rejects any other hash, as an
   * invalid request of its client.
   */
  handle: RequestHandler = (request, response, next) => {
    const offered = this.#offered;
    const asked = offered && request.headers[PACK_HEADER] === offered.pack.hash ? offered : this.#active;
    return asked.router(request, response, next);
  };

  /**
   * Reads the tokens of the settings again. @returns whether any token has changed. @throws {SettingsError} The old
   * tokens stay
   */
  refreshTokens = (): boolean => {
    this.#refreshCandidateTokens();
    return this.#refreshTokensOf(this.#active);
  };

  /**
   * Reads the catalogs of a new pack, then serves new requests with it. While the catalogs can't be read, the previous
   * pack serves requests, and the read is repeated.
   */
  async replace(loaded: LoadedPack, isSuperseded: () => boolean): Promise<void> {
    const next = this.#open(loaded, false);
    const isUnwanted = (): boolean => this.#isStopped || isSuperseded();
    await this.#readCatalogs(next, isUnwanted);
    if (isUnwanted()) return this.#end(next);
    try {
      // The tokens may have changed while the catalogs were being read.
      this.#refreshTokensOf(next);
    } catch (error) {
      this.#end(next);
      throw error;
    }
    this.#endWhenIdle(this.#active);
    this.#active = next;
  }

  /** Reads the catalogs of a candidate, then serves the requests that select it. Undefined removes the candidate. */
  async offer(loaded: LoadedPack | undefined, isSuperseded: () => boolean): Promise<void> {
    const next = loaded && this.#open(loaded, true);
    await next?.catalogs.refresh();
    if (this.#isStopped || isSuperseded()) return next && this.#end(next);
    this.#endWhenIdle(this.#offered);
    this.#offered = next;
  }

  /** Stops the background work of packs. */
  stop(): void {
    this.#isStopped = true;
    this.#comparison?.stop();
    for (const pack of this.#serving) pack.catalogs.stop();
  }

  #open(loaded: LoadedPack, isForTesters: boolean): ServingPack {
    const comparison = this.#comparison;
    const compare: Compare | undefined =
      comparison && !isForTesters ? (pack, exchange) => comparison.offer(pack, exchange) : undefined;
    const pack = openServingPack(this.#settings, this.#dependencies, loaded, { isForTesters, compare });
    this.#serving.add(pack);
    return pack;
  }

  #end(pack: ServingPack): void {
    pack.catalogs.stop();
    this.#serving.delete(pack);
  }

  /** Ends a pack after its in-flight requests, which may still read its catalogs. */
  #endWhenIdle(pack: ServingPack | undefined): void {
    if (pack) void this.#dependencies.inFlight.idle(MAX_REQUEST_MS).then(() => this.#end(pack));
  }

  /** Makes sure that no pack accepts revoked tokens. A candidate whose tokens can't be read is dropped. */
  #refreshCandidateTokens(): void {
    if (!this.#offered) return;
    try {
      this.#refreshTokensOf(this.#offered);
    } catch {
      this.#endWhenIdle(this.#offered);
      this.#offered = undefined;
    }
  }

  /** Resolves after the catalogs are as complete as those of the active pack, or if the pack is no longer needed. */
  async #readCatalogs({ catalogs }: ServingPack, isUnwanted: () => boolean): Promise<void> {
    for (;;) {
      await catalogs.refresh();
      const isComplete = catalogs.missing().length === 0 || this.#active.catalogs.missing().length > 0;
      if (isComplete || isUnwanted()) return;
      await wait(RETRY_MS, undefined, { ref: false });
    }
  }

  #refreshTokensOf({ upstreamTokens, pack }: ServingPack): boolean {
    return refreshUpstreamTokens(upstreamTokens, this.#settings, pack);
  }
}
