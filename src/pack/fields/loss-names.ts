/** What the routes of a pack may lose, numbered, so that the audit counts losses without their texts. */
import { DEFAULT_SEVERITY } from "../../base/index.ts";
import type { Loss } from "./loss.ts";
import type { Route } from "../routes/route.ts";

/** Maximum number of losses of a route. Those of its objects come first. */
const MAX_LOSSES = 1024;

/** The losses of the routes of one path, of which the body may select one. */
export interface LossNames {
  /** Severity and text, separated by a blank: `meaning status: v4 has none`. */
  readonly names: readonly string[];
  /** One bit for each of the names, the first one being the highest of the first byte; undefined if nothing was lost. */
  readonly bitsOf: (losses: Iterable<string>) => Uint8Array | undefined;
}

/** A call after a write has failed, so that the client gets only a part of the object. */
export const responseLoss = (upstream: string): string => `the response: ${upstream} did not give it`;

/** A related request has failed. */
export const relatedLoss = (name: string, upstream: string): string => `${name}: ${upstream} did not give it`;

/** Some of the related requests of a body have failed. */
export const partLoss = (name: string, upstream: string): string => `${name}: ${upstream} did not give all`;

/** The levels that were requested for a token can't be read now. */
export const levelsLoss = (name: string): string => `${name}: what was asked for is not known at the moment`;

/** What requests lose if other calls of the route fail. */
function fallbackLosses({ related, readAfterWrite, tokenLevels }: Route, upstream: string): Loss[] {
  const texts = [
    ...(readAfterWrite ? [responseLoss(upstream)] : []),
    ...related.flatMap(({ name }) => [relatedLoss(name, upstream), partLoss(name, upstream)]),
    ...(tokenLevels ? [levelsLoss(tokenLevels.scopes)] : []),
  ];
  return texts.map((text) => ({ text, severity: DEFAULT_SEVERITY }));
}

function compileNames(routes: readonly Route[], upstream: string): LossNames {
  const losses = [
    ...routes.flatMap((route) => [...route.losses, ...(route.withoutScopes?.losses ?? [])]),
    ...routes.flatMap((route) => fallbackLosses(route, upstream)),
  ];
  const unique = [...new Map(losses.map((loss) => [loss.text, loss])).values()].slice(0, MAX_LOSSES);
  const numbers = new Map(unique.map(({ text }, index) => [text, index]));
  return {
    names: unique.map(({ severity, text }) => `${severity} ${text}`),
    bitsOf(texts) {
      let bits: Uint8Array | undefined;
      for (const text of texts) {
        const index = numbers.get(text);
        if (index === undefined) continue;
        bits ??= new Uint8Array(Math.ceil(numbers.size / 8));
        // A typed array has a number at each of its places.
        (bits[index >> 3] as number) |= 0x80 >> (index & 7);
      }
      return bits;
    },
  };
}

/** Compiles the losses of all routes, by the names of the routes. */
export const compileLossNames = (
  routes: readonly Route[],
  upstream: string,
): ReadonlyMap<string, LossNames> =>
  new Map(
    [...Map.groupBy(routes, ({ name }) => name)].map(([name, same]) => [name, compileNames(same, upstream)]),
  );
