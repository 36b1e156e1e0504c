import type { Log } from "../../base/index.ts";
import type { OnUntrustedProxy } from "../limits/client-address.ts";

/** Warns about the first untrusted proxy. A stranger can send such a header too, so a process logs only one line. */
export function createProxyWarning(log: Log): OnUntrustedProxy {
  let hasWarned = false;
  return function warnOfUntrustedProxy(address) {
    if (hasWarned) return;
    hasWarned = true;
    log.warn(
      { code: "AG_PROXY_NOT_TRUSTED", address },
      "X-Forwarded-For or Forwarded came from an address that is not in TRUST_PROXY, and has no effect: " +
        "all clients behind this address share one rate limit. If it is your proxy, set TRUST_PROXY to its address",
    );
  };
}
