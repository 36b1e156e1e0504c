/** Shares of limited resources, so that the notices of one client do not displace the notices of others. */
import { Shares } from "../../base/index.ts";
import { familyKeyOf, type NamedClient } from "../../audit/index.ts";

/**
 * The owner of a share: a group, a colon, and the client within the group. Any client can use many tokens and choose
 * its user agents. So clients without a name form their own group, in which a family of user agents is one client.
 */
export type Share = `${"plan" | "named" | "unnamed"}:${string}`;

/** The share of notices that are not about a client. */
export const PLAN: Share = "plan:";

/** The share of a client. */
export const shareOf = (usage: NamedClient): Share =>
  usage.name === null ? `unnamed:${familyKeyOf(usage) ?? usage.client ?? ""}` : `named:${usage.name}`;

/** The group of a share. */
export const groupOf = (share: Share): string => share.slice(0, share.indexOf(":"));

/** Limits of a resource. */
export interface NoticeLimits {
  /** Maximum amount of all clients of a group together. */
  readonly group: number;
  /** Maximum amount of one client. */
  readonly client: number;
}

/** The used amounts, by share. */
export type Taken = Readonly<Record<Share, number>>;

/** Counts the use of each client and each group. */
export class NoticeShares {
  readonly #limits: NoticeLimits;
  readonly #groups = new Map<string, Shares<Share>>();

  /** @param taken earlier use */
  constructor(limits: NoticeLimits, taken: Taken = {}) {
    this.#limits = limits;
    for (const [share, count] of Object.entries(taken)) this.add(share as Share, count);
  }

  /** Counts a use that is always allowed, even above the limits. */
  add(share: Share, count: number): void {
    this.#groupOf(share).take(share, count);
  }

  /** Takes one unit. @returns false if the limit of the client or its group is reached */
  take(share: Share): boolean {
    const { group, client } = this.#limits;
    return this.#groupOf(share).tryTake(share, { all: group, each: share === PLAN ? group : client });
  }

  /** Returns the used amounts, in a form that can be stored. */
  taken(): Taken {
    return Object.fromEntries([...this.#groups.values()].flatMap((group) => group.entries()));
  }

  #groupOf(share: Share): Shares<Share> {
    const name = groupOf(share);
    const group = this.#groups.get(name) ?? new Shares<Share>();
    this.#groups.set(name, group);
    return group;
  }
}
