/**
 * The fields of the filter form of the traffic view, by their names in its address. `span` gives `since`; the others are
 * parameters of `GET /api/audit`. This module imports nothing, so that a test can compare it with them.
 */
export const FIELDS = {
  route: { label: "Route", className: "wide", input: { list: "routes", placeholder: "GET /…" } },
  client: { label: "Client", input: { placeholder: "name or fingerprint", maxlength: "300" } },
  status: { label: "Status", input: { inputmode: "numeric", placeholder: "any", maxlength: "3" } },
  lane: { label: "Lane", choices: ["alpha", "native", "legacy"] },
  span: { label: "Time", choices: ["5m", "1h", "24h", "7d"] },
};

const MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parameters of `GET /api/audit` for the filled fields. */
export function auditQuery({ span, ...filters }, now = Date.now()) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  const [, amount, unit] = /^(\d+)([mhd])$/.exec(span ?? "") ?? [];
  if (amount) query.set("since", new Date(now - amount * MS[unit]).toISOString());
  return query;
}
