/** Of a gateway that the scripts are run against. */
export const SETTINGS = { BODY_LIMIT: "64kb", UPSTREAM_TIMEOUT_MS: "60000", AUDIT: "off" } as const;
