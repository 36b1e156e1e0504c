import { read, repeat } from "../api.js";
import { emptyState, make } from "../dom.js";
import { ago, count, dateTime, plural, rateText } from "../format.js";
import { address } from "../router.js";

const EVERY_MS = 5000;

/** Fields of a route that are shown. */
const SHOWN_FIELDS = 5;

const SOURCES = {
  candidate: { title: "Candidate pack", old: "Active pack", new: "Candidate" },
  legacy: { title: "Old service", old: "Old service", new: "Gateway" },
};

/** Below the number it is never a percentage. */
const TAGS = {
  below: ({ upperBound }) => make("span", { class: "tag good" }, `enough: below ${rateText(upperBound)}`),
  above: () => make("span", { class: "tag bad" }, "too many differ"),
  "not enough": ({ distinct, required, clients }) =>
    make(
      "span",
      { class: "tag" },
      `not enough: ${count(distinct)} of ${count(required)}, ${plural(clients, "client")} of 10`,
    ),
};

const fieldLine = ({ field, kind, count: times, clients, examples, last }) =>
  make(
    "span",
    { class: "under" },
    make("code", {}, field === "" ? "the body" : field),
    ` ${kind}, ${plural(times, "time")}, last ${ago(last)}`,
    clients.length > 0 && `, ${clients.join(", ")}`,
    examples.map((id, index) => [
      index === 0 ? ": " : ", ",
      make("a", { href: address("parity", id) }, `example ${index + 1}`),
    ]),
  );

function coverage(gaps) {
  const lines = [
    ["without a value so far: ", gaps?.fields ?? []],
    ["words not seen so far: ", gaps?.words ?? []],
  ];
  const shown = lines.filter(([, names]) => names.length > 0);
  return (
    shown.length > 0 &&
    make(
      "details",
      {},
      make("summary", {}, "Coverage"),
      shown.map(([text, names]) => make("p", { class: "hint" }, text, make("code", {}, names.join(", ")))),
    )
  );
}

const reasonsOf = ({ unstable, accepted, notComparable }) =>
  [
    accepted > 0 && `${count(accepted)} accepted`,
    unstable > 0 && `${count(unstable)} unstable`,
    ...Object.entries(notComparable).map(([reason, times]) => `${count(times)} not comparable: ${reason}`),
  ].filter(Boolean);

const routeLine = (route) =>
  make(
    "tr",
    {},
    make(
      "td",
      { class: "main" },
      make("span", { class: "mono" }, route.route),
      route.fields.slice(0, SHOWN_FIELDS).map(fieldLine),
      reasonsOf(route).map((text) => make("span", { class: "under" }, text)),
      coverage(route.gaps),
    ),
    make("td", { "data-label": "Enough" }, TAGS[route.verdict](route)),
    make("td", { class: "number", "data-label": "Distinct" }, count(route.distinct)),
    make("td", { class: "number", "data-label": "Differ" }, count(route.different)),
    make("td", { class: "number", "data-label": "Comparisons" }, count(route.comparisons)),
  );

const COLUMNS = ["Route", "Enough", "Distinct", "Differ", "Comparisons"];

function sourceSection({ source, since, rate, routes, routesWithoutTraffic }) {
  const { title } = SOURCES[source];
  return make(
    "section",
    {},
    make("h2", {}, title),
    make(
      "p",
      { class: "hint" },
      `Since ${dateTime(since)}. Asked: do fewer than ${rateText(rate)} of the answers differ?`,
    ),
    make(
      "table",
      { class: "cards labelled" },
      make("caption", { class: "unseen" }, `Comparisons by route: ${title}`),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          COLUMNS.map((name, index) => make("th", { scope: "col", class: index > 1 && "number" }, name)),
        ),
      ),
      make("tbody", {}, routes.map(routeLine)),
    ),
    routesWithoutTraffic.length > 0 &&
      make(
        "details",
        {},
        make("summary", {}, `${plural(routesWithoutTraffic.length, "route")} without traffic`),
        make("p", { class: "hint mono" }, routesWithoutTraffic.join(", ")),
      ),
  );
}

/** What comparisons of answers have found, by source and route. */
export async function showParity({ signal }) {
  const head = make("div", { class: "head" }, make("h1", {}, "Parity"));
  const place = make("div");
  let shown;

  function show(sources) {
    const text = JSON.stringify(sources);
    if (text === shown) return;
    shown = text;
    // What is open stays open.
    const open = [...place.querySelectorAll("details")].map((details) => details.open);
    place.replaceChildren(
      ...(sources.length > 0
        ? sources.map(sourceSection)
        : [
            emptyState(
              "Nothing was compared yet",
              "Answers of a candidate pack, or of the old service, are compared with what clients get.",
            ),
          ]),
    );
    place.querySelectorAll("details").forEach((details, index) => (details.open = open[index] === true));
  }

  show((await read("/api/parity", signal)).sources);
  repeat(async () => show((await read("/api/parity", signal)).sources), EVERY_MS, signal);
  return [head, place];
}

const bodyLine = ({ path, old, new: other, isDifferent }) =>
  make(
    "tr",
    { data: isDifferent ? { class: "lossy" } : {} },
    make("th", { scope: "row", class: "mono main" }, path === "" ? "the body" : path),
    make("td", { class: "mono value" }, old ?? "–"),
    make("td", { class: "mono value" }, other ?? "–"),
    make("td", {}, isDifferent && make("span", { class: "tag bad" }, "differs")),
  );

function bodies({ example, lines }) {
  const sides = SOURCES[example.source];
  const status = {
    path: "status",
    old: String(example.old.status),
    new: String(example.new.status),
    isDifferent: example.old.status !== example.new.status,
  };
  return make(
    "div",
    { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Both answers" },
    make(
      "table",
      { class: "fields" },
      make("caption", { class: "unseen" }, "Both answers"),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ["Field", sides.old, sides.new, "Same"].map((name) => make("th", { scope: "col" }, name)),
        ),
      ),
      make("tbody", {}, [status, ...lines].map(bodyLine)),
    ),
  );
}

const commands = (title, texts) =>
  texts.length > 0 && [make("h3", {}, title), texts.map((text) => make("pre", { tabindex: "0" }, text))];

/** An example of a difference: both answers, and what made them. */
export async function showDifference(id, { signal }) {
  const described = await read(`/api/parity/${encodeURIComponent(id)}`, signal);
  const { example, rules, curl } = described;
  const sides = SOURCES[example.source];
  return [
    make("div", { class: "head" }, make("h1", { class: "mono" }, example.route)),
    make(
      "p",
      { class: "hint" },
      `${example.client ?? "without a token"}, ${dateTime(example.time)}, request ${example.requestId}`,
    ),
    make(
      "ul",
      { class: "plain" },
      example.differences.map(({ field, kind, old, new: other }) =>
        make(
          "li",
          {},
          make("code", {}, field === "" ? "the body" : field),
          ` ${kind}: ${old ?? "–"} → ${other ?? "–"}. `,
          make("span", { class: "quiet" }, rules.find((rule) => rule.field === field)?.rule ?? ""),
        ),
      ),
    ),
    bodies(described),
    make("h2", {}, "Commands"),
    commands(sides.old, [curl.old]),
    commands(sides.new, [curl.new]),
    commands("Calls to the upstream", curl.upstream),
  ];
}
