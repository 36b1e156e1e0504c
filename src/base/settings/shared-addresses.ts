import type { Settings } from "./setting-definitions.ts";

/**
 * Whether several clients may have one address, that of a proxy. Only `TRUST_PROXY` says that each has its own: it names the
 * proxies, or says that there are none.
 */
export const mayShareAddresses = ({ TRUST_PROXY }: Pick<Settings, "TRUST_PROXY">): boolean =>
  TRUST_PROXY === undefined;
