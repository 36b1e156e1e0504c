import { make } from "../dom.js";
import { clientName, upstreamName } from "../names.js";

const STATUSES = ["200", "400", "401", "403", "404", "420", "500"];
const SPANS = [
  ["", "any time"],
  ["5m", "last 5 minutes"],
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
];
const MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const option = ([value, text], chosen) => make("option", { value, selected: value === chosen }, text);
const field = (label, control, wide = false) => make("label", { class: wide && "wide" }, label, control);

/** The filter form of the traffic view, filled from the address. Calls `changed` after every change. */
export function filterForm(parameters, changed) {
  const given = (name) => parameters.get(name) ?? "";
  const select = (name, options) =>
    make(
      "select",
      { name },
      options.map((each) => option(each, given(name))),
    );
  const routes = make("datalist", { id: "routes" });
  const text = (name, attributes) =>
    make("input", { name, value: given(name), spellcheck: "false", autocomplete: "off", ...attributes });

  const form = make(
    "form",
    {
      class: "filters",
      "aria-label": "Filters",
      role: "search",
      onsubmit: (event) => event.preventDefault(),
    },
    field("Route", text("route", { list: "routes", placeholder: "GET /…" }), true),
    field("Client", text("client", { placeholder: "name or fingerprint", maxlength: "300" })),
    field("Status", select("status", [["", "any"], ...STATUSES.map((status) => [status, status])])),
    field(
      "Lane",
      select("lane", [
        ["", "all"],
        ["alpha", clientName],
        ["native", `native (${upstreamName})`],
        ["legacy", "old service"],
      ]),
    ),
    field("Time", select("span", SPANS)),
    make("button", { type: "reset" }, "Clear"),
    routes,
  );
  form.addEventListener("change", () => changed());
  form.addEventListener("reset", (event) => {
    // A reset would go back to what the address said.
    event.preventDefault();
    for (const control of form.elements) if (control.name) control.value = "";
    changed();
  });

  return {
    form,
    /** What is filled in, by name. */
    values: () => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()])),
    /** Offers routes that were seen. */
    offer(names) {
      const offered = new Set([...routes.children].map(({ value }) => value));
      for (const name of names)
        if (name && !offered.has(name)) routes.append(make("option", { value: name }));
    },
  };
}

/** Parameters of `GET /api/audit` for what is filled in. */
export function auditQuery({ route, client, status, lane, span }, now = Date.now()) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ route, client, status, lane }))
    if (value) query.set(name, value);
  const [, amount, unit] = /^(\d+)([mhd])$/.exec(span ?? "") ?? [];
  if (amount) query.set("since", new Date(now - amount * MS[unit]).toISOString());
  return query;
}
