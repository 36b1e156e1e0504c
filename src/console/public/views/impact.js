import { read } from "../api.js";
import { emptyState, make, say } from "../dom.js";
import { count, dayName, plural } from "../format.js";
import { keepInAddress } from "../router.js";
import { clientColumn } from "./clients.js";
import { sortableTable } from "./sortable.js";

const NOBODY_KNOWS =
  "These clients get it. Nobody can know which of them read it: a field brown-out of the plan leaves it out for a while, and shows who misses it.";

const columns = (isExact) => [
  clientColumn,
  {
    name: isExact ? "Calls" : "Calls at most",
    number: true,
    value: ({ calls }) => calls,
    cell: ({ calls }) => count(calls),
  },
  {
    name: "Last day",
    number: true,
    value: ({ last }) => Date.parse(last),
    cell: ({ last }) => make("time", { datetime: last, title: last }, dayName(last)),
  },
];

const option = (value, text, chosen) => make("option", { value, selected: value === chosen }, text);

const group = (label, names, chosen) =>
  names.length > 0 &&
  make(
    "optgroup",
    { label },
    names.map((name) => option(name, name, chosen)),
  );

/** What a name is in a query: `body.plan=small` is a word of a field. */
function subjectOf(route, name) {
  const query = new URLSearchParams({ route });
  const at = name.indexOf("=");
  if (name) query.set("field", at < 0 ? name : name.slice(0, at));
  if (at >= 0) query.set("word", name.slice(at + 1));
  return query;
}

/** The clients that would notice, with what is known about them. */
function results({ notices, clients, readers, namesSince }, name) {
  const isRead = name.startsWith("answer.");
  const rows = isRead ? readers : clients;
  const what = name || "this route";
  if (rows.length === 0)
    return [
      emptyState(isRead ? "No client gets it" : "No client would notice", `No call with ${what} is counted.`),
    ];
  const isCounted = notices.every(({ isExact }) => isExact);
  const verb = isRead ? "get" : name ? "send" : "call";
  const head = `${plural(rows.length, "client")} ${verb}${rows.length === 1 ? "s" : ""} ${what}`;
  say(head);
  return [
    make("h2", {}, head),
    isRead && make("p", { class: "hint" }, NOBODY_KNOWS),
    namesSince !== null &&
      name &&
      !isRead &&
      make(
        "p",
        { class: "hint" },
        `Names are known since ${namesSince}, and calls for longer: who sent it only before is not listed.`,
      ),
    !isCounted && make("p", { class: "hint" }, "Who sends it is not counted: these are all who call."),
    isCounted &&
      name &&
      !isRead &&
      make(
        "p",
        { class: "hint" },
        "All calls on the days on which a client sent it: at most that many had it.",
      ),
    sortableTable({
      caption: head,
      columns: columns(!name || isRead),
      rows,
      sorted: columns(!name || isRead)[1].name,
    }),
  ];
}

/** Who would notice if a route, a member or a word were gone. */
export async function showImpact({ signal, parameters }) {
  const { routes } = await read("/api/mappings", signal);
  const names = [...new Set(routes.map(({ alpha }) => alpha))];
  const chosen = { route: parameters.get("route") ?? "", name: parameters.get("name") ?? "" };
  const routeSelect = make(
    "select",
    { name: "route" },
    option("", "choose a route", chosen.route),
    names.map((name) => option(name, name, chosen.route)),
  );
  const nameSelect = make("select", { name: "name", disabled: true }, option("", "the whole route", ""));
  const form = make(
    "form",
    { class: "filters", "aria-label": "What may go", onsubmit: (event) => event.preventDefault() },
    make("label", { class: "wide" }, "Route", routeSelect),
    make("label", { class: "wide" }, "Member, parameter or word", nameSelect),
  );
  const found = make("section", { "aria-label": "Clients" });
  let asked = 0;

  async function fill(route, name) {
    keepInAddress("impact", { route, name });
    const own = (asked += 1);
    if (route === "") {
      nameSelect.replaceChildren(option("", "the whole route", ""));
      nameSelect.disabled = true;
      found.replaceChildren(
        emptyState(
          "Who would notice?",
          "Choose a route, and a member or a word of it: the clients that use it are listed.",
        ),
      );
      return;
    }
    const answer = await read(`/api/usage/impact?${subjectOf(route, name)}`, signal).catch((error) => error);
    // Another choice was made meanwhile.
    if (own !== asked || signal.aborted) return;
    if (answer instanceof Error) {
      found.replaceChildren(emptyState("Nothing is counted", answer.message));
      return;
    }
    const { sent = [], read: answered = [] } = answer.names ?? {};
    nameSelect.disabled = false;
    nameSelect.replaceChildren(
      option("", "the whole route", name),
      ...[group("Clients send", sent, name), group("Answers have", answered, name)].filter(Boolean),
    );
    found.replaceChildren(...results(answer, name).filter(Boolean));
  }

  routeSelect.addEventListener("change", () => void fill(routeSelect.value, ""));
  nameSelect.addEventListener("change", () => void fill(routeSelect.value, nameSelect.value));
  await fill(chosen.route, chosen.name);
  return [make("div", { class: "head" }, make("h1", {}, "Impact")), form, found];
}
