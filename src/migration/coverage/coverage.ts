/** Counts the observed calls that a pack would serve, by calls and by clients, in a limited amount of memory. */
import type { Pack } from "../../pack/index.ts";
import { ServedShares } from "./served-shares.ts";
import type { Judgement, RefusalKind } from "./judge-call.ts";
import type { ObservedCall } from "./observed-call.ts";

export type Coverage = ReturnType<CoverageCounter["result"]>;
/** The reason why some calls are refused. */
export type Refusal = Coverage["refusals"][number];

/** Maximum number of refusals and reasons that are counted separately. The others are counted together. */
const MOST_REFUSALS = 2000;
/** Maximum number of clients that are counted separately. The others are counted together. */
const MOST_CLIENTS = 10_000;
const MOST_SAMPLES = 3;

const OTHERS = "others";

/** Returns the counts of a key. If there are too many keys, further ones share their counts. */
function countedAt<Key, Counts>(
  counts: Map<Key | string, Counts>,
  key: Key,
  most: number,
  create: (counted: Key | string) => Counts,
): Counts {
  const counted = counts.has(key) || counts.size < most ? key : OTHERS;
  const known = counts.get(counted);
  if (known) return known;
  const created = create(counted);
  counts.set(counted, created);
  return created;
}

interface CountedRefusal {
  readonly kind: RefusalKind | "others";
  /** The pack's route, otherwise a template of the path. */
  readonly route: string;
  readonly reason: string;
  calls: number;
  readonly clients: Set<number>;
  /** Ids of records, or positions of entries: at most three. */
  readonly samples: string[];
}

interface CountedClient {
  readonly client: string | null;
  readonly number: number;
  calls: number;
  served: number;
}

/** Collects judgements. */
export class CoverageCounter {
  readonly #refusals = new Map<string, CountedRefusal>();
  readonly #clients = new Map<string | null, CountedClient>();
  readonly #notJudged = new Map<string, { readonly reason: string; calls: number }>();
  readonly #shares = new ServedShares();
  readonly #pack: Pick<Pack, "credentials" | "route">;
  #calls = 0;
  #served = 0;

  constructor(pack: Pick<Pack, "credentials" | "route">) {
    this.#pack = pack;
  }

  add(call: ObservedCall, judgement: Judgement): void {
    const { id, client, count } = call;
    if (judgement.verdict === "unknown") return this.skip(judgement.reason, count);
    this.#addToClient(call, judgement);
    const counted = this.#clientOf(client);
    this.#calls += count;
    counted.calls += count;
    if (judgement.verdict === "served") {
      this.#served += count;
      counted.served += count;
      return;
    }
    const refusal = this.#refusalOf(judgement);
    refusal.calls += count;
    refusal.clients.add(counted.number);
    if (refusal.samples.length < MOST_SAMPLES) refusal.samples.push(id);
  }

  /** Counts calls that are not judged. */
  skip(reason: string, calls: number): void {
    const skipped = countedAt(this.#notJudged, reason, MOST_REFUSALS, (counted) => ({
      reason: counted,
      calls: 0,
    }));
    skipped.calls += calls;
  }

  result() {
    return {
      /** Number of calls that were judged. */
      calls: this.#calls,
      served: this.#served,
      clients: [...this.#clients.values()]
        // The client is null for calls without a token.
        .map(({ client, calls, served }) => ({ client, calls, served }))
        .toSorted(
          (one, other) => other.calls - other.served - (one.calls - one.served) || other.calls - one.calls,
        ),
      /** The values that a gate compares, based on clients instead of calls. */
      mean: this.#shares.result(),
      /** Refusals with the most calls come first. */
      refusals: [...this.#refusals.values()]
        .map(({ clients, ...refusal }) => ({ ...refusal, clients: clients.size }))
        .toSorted((one, other) => other.calls - one.calls || other.clients - one.clients),
      /** Number of calls that could not be judged, by reason, the most frequent first. */
      notJudged: [...this.#notJudged.values()].toSorted((one, other) => other.calls - one.calls),
    };
  }

  /** Adds a call to its client. A call without a token belongs to no migration, unless clients need no token. */
  #addToClient(call: ObservedCall, judgement: Exclude<Judgement, { verdict: "unknown" }>): void {
    const { route, verdict } = judgement;
    const needsNone = this.#pack.credentials.client === undefined;
    if (!call.hasToken && !needsNone) return;
    // If the pack lacks a path, a name in that path may also be the name of a route.
    const isOfPack = verdict === "served" || (judgement.kind !== "path" && judgement.kind !== "method");
    const access = isOfPack ? this.#pack.route(route)?.access : undefined;
    const showsAcceptance = needsNone || (access ?? "public") !== "public";
    this.#shares.add(call, route, verdict === "served", showsAcceptance);
  }

  #clientOf(client: string | null): CountedClient {
    const number = this.#clients.size;
    const create = (name: string | null): CountedClient => ({ client: name, number, calls: 0, served: 0 });
    return countedAt<string | null, CountedClient>(this.#clients, client, MOST_CLIENTS, create);
  }

  #refusalOf({ kind, route, reason }: Omit<Judgement & { verdict: "refused" }, "verdict">): CountedRefusal {
    const key = [kind, route, reason].join("\n");
    return countedAt(this.#refusals, key, MOST_REFUSALS, (counted) => ({
      ...(counted === key ? { kind, route, reason } : { kind: OTHERS, route: "", reason: "further reasons" }),
      calls: 0,
      clients: new Set(),
      samples: [],
    }));
  }
}
