/** The possible losses of the routes of a pack, numbered, so that the audit counts losses without their texts. */
import { DEFAULT_SEVERITY } from "../../base/index.ts";
import { setBit } from "./sent-names.ts";
import type { Loss } from "./loss.ts";
import type { Route } from "../routes/route.ts";

/** Maximum number of losses of a route. Those of its objects come first. */
const MAX_LOSSES = 1024;

/** The losses of the routes of one path, from which the body may select one. */
export interface LossNames {
  /** Severity and text, separated by a blank: `meaning status: v4 has none`. */
  readonly names: readonly string[];
  /** One bit for each of the names, the first one being the highest of the first byte; undefined if nothing was lost. */
  readonly bitsOf: (losses: Iterable<string>) => Uint8Array | undefined;
}

/** The losses of requests if other calls of the route fail. */
const fallbackLosses = ({ callLosses }: Route): Loss[] =>
  callLosses.map((text) => ({ text, severity: DEFAULT_SEVERITY }));

function compileNames(routes: readonly Route[]): LossNames {
  const losses = [
    ...routes.flatMap((route) => [...route.losses, ...(route.withoutScopes?.losses ?? [])]),
    ...routes.flatMap((route) => fallbackLosses(route)),
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
        setBit(bits, index);
      }
      return bits;
    },
  };
}

/** Compiles the losses of all routes, by the names of the routes. */
export const compileLossNames = (routes: readonly Route[]): ReadonlyMap<string, LossNames> =>
  new Map([...Map.groupBy(routes, ({ name }) => name)].map(([name, same]) => [name, compileNames(same)]));
