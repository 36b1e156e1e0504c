import { setTimeout as wait } from "node:timers/promises";
import type { Readiness } from "../../console/index.ts";
import type { ActivePack } from "../pack/active-pack.ts";
import type { Dependencies } from "../composition/dependencies.ts";
import { legacyProblems } from "../../gateway/index.ts";

/** Milliseconds that a start waits for the catalogs. If v4 is slower, the gateway starts without being ready. */
const INITIAL_CATALOGS_MS = 2000;

/** Milliseconds that a readiness check waits for the request that probes v4. */
const PROBE_MS = 500;

/** Reads the catalogs. @returns whether all could be read in time */
const refreshCatalogs = (activePack: ActivePack, maxMs: number): Promise<boolean> =>
  Promise.race([activePack.current().catalogs.refresh(), wait(maxMs, false, { ref: false })]);

/** Reads the catalogs for the first time. Never rejects: `readiness` lists the missing ones. */
export async function readInitialCatalogs(activePack: ActivePack): Promise<void> {
  await refreshCatalogs(activePack, INITIAL_CATALOGS_MS);
}

/**
 * Creates the function that lists the reasons why a gateway is not ready. The gateway serves requests while a store is
 * down, so a check without the stores only lists problems that affect requests.
 */
export function createReadiness(
  activePack: ActivePack,
  {
    upstream,
    nativeProxy,
    legacy,
    audit,
    state,
    stateFullness,
    shared,
  }: Pick<
    Dependencies,
    "upstream" | "nativeProxy" | "legacy" | "audit" | "state" | "stateFullness" | "shared"
  >,
): Readiness {
  /**
   * Checks v4. While the circuit is half-open, only a request can close it, and show whether v4 works for other clients
   * than those that opened it. If there are no client requests, the requests for catalogs are the only ones.
   */
  async function v4Problems(): Promise<string[]> {
    const { breaker } = upstream;
    const isFailing =
      breaker.state() === "open" ||
      (breaker.state() === "half-open" &&
        !(await refreshCatalogs(activePack, PROBE_MS)) &&
        breaker.state() !== "closed");
    return isFailing ? [`${activePack.current().pack.dialect.upstream.name} fails: the circuit is open`] : [];
  }

  async function storeProblems(): Promise<readonly string[]> {
    // Called first, because it queries the store. The other checks report the results of recent operations.
    const full = await stateFullness.problems();
    return [
      ...[audit?.fault() ?? []].flat(),
      ...[state.fault() ?? []].flat().map((fault) => `the state store ${fault}`),
      ...full,
      ...shared.problems(),
    ];
  }

  return async (scope = "all") => [
    ...activePack
      .current()
      .catalogs.missing()
      .map((reason) => `catalog ${reason}`),
    ...(await v4Problems()),
    ...upstream.shortages(),
    ...nativeProxy.shortages(),
    ...legacyProblems(legacy),
    ...(scope === "all" ? await storeProblems() : []),
  ];
}
