/** What pages are narrowed by besides time. Each has an index of its own, so that rare combinations are found at once. */
export const QUERY_FILTERS = [
  [],
  ["client"],
  ["route"],
  ["status"],
  ["client", "route"],
  ["client", "status"],
  ["route", "status"],
  ["client", "route", "status"],
] as const;
