import { read, repeat, write } from "../api.js";
import { emptyState, make, problem, say } from "../dom.js";
import { ago, dateTime, percent } from "../format.js";
import { clientName } from "../names.js";

const EVERY_MS = 2000;
const EVERYTHING = "all";

const nameOf = (name) =>
  name === "?" ? "clients without a name" : name === EVERYTHING ? "everything" : name;

const list = (label, lines) =>
  lines.length > 0 &&
  make("section", {}, make("h2", {}, label), make("ul", { class: "plain", "aria-label": label }, lines));

const tripLine = ({ name, by, at, reason, records }) =>
  make(
    "li",
    {},
    make("span", { class: "tag loss" }, "returned"),
    make("b", {}, nameOf(name)),
    make(
      "span",
      { class: "quiet" },
      `by ${by}, ${ago(at)}, ${dateTime(at)}${reason === null ? "" : `: ${reason}`}`,
    ),
    records.length > 0 && make("span", { class: "quiet" }, `requests ${records.join(", ")}`),
  );

const sideTag = (side) =>
  make(
    "span",
    { class: "tag", data: { open: side === "new" } },
    side === "new" ? "translation" : "old service",
  );

const clientLine = ({ name, side, why, exceptions }) =>
  make(
    "li",
    {},
    sideTag(side),
    make("b", {}, name),
    make("span", { class: "quiet" }, why),
    exceptions.map((each) =>
      make(
        "span",
        { class: "quiet" },
        `${each.route}: ${each.side === "new" ? "translation" : "old service"}`,
      ),
    ),
  );

const scoreLine = ({ route, differences, failures }) =>
  make(
    "li",
    {},
    make("code", {}, route),
    make(
      "span",
      { class: "quiet" },
      `differences ${percent(differences, 1)}, failures ${percent(failures, 1)} of a return`,
    ),
  );

const noWayBackLine = (client) =>
  make(
    "li",
    {},
    make("b", {}, nameOf(client)),
    make("span", { class: "quiet" }, "has tokens that the old service does not know"),
  );

const eventLine = ({ action, name, by, at }) =>
  make(
    "li",
    {},
    make("span", {}, `${action === "resume" ? "resumed" : "returned"}: ${nameOf(name)}`),
    make("span", { class: "quiet" }, `by ${by}, ${dateTime(at)}`),
  );

const content = ({ isKnown, others, clients, trips, blocked, scores, noWayBack, events }) => [
  !isKnown && problem("The state store could not be read yet: everybody gets the old service."),
  blocked.length > 0 &&
    problem(`${blocked.join(", ")} should return, and stays: the old service is not well.`),
  list("Returned", trips.map(tripLine)),
  list("On the way back", scores.map(scoreLine)),
  list("No way back", noWayBack.map(noWayBackLine)),
  list("Clients", [
    ...clients.map(clientLine),
    make("li", {}, sideTag(others), make("span", { class: "quiet" }, "requests of nobody in the directory")),
  ]),
  list("So far", events.map(eventLine)),
];

/** What can be turned back: everything, clients with the translation, and routes that are named somewhere. */
function targetsOf({ data, rules, clients, scores, trips }) {
  const routes =
    data.kind === "shared"
      ? [...rules.flatMap((rule) => rule.routes ?? []), ...scores.map(({ route }) => route)]
      : [];
  const names = clients.filter(({ side }) => side === "new").map(({ name }) => name);
  const returned = new Set(trips.map(({ name }) => name));
  return [...new Set([EVERYTHING, ...names, ...routes])].filter((name) => !returned.has(name));
}

/** Who gets the translation, and the button that turns back. */
export async function showRollout({ signal }) {
  const head = make("div", { class: "head" }, make("h1", {}, "Roll-out"));
  const { rollout: first } = await read("/api/rollout", signal);
  if (first === null)
    return [
      head,
      emptyState(
        "There is no roll-out",
        `ROLLOUT_FILE says which clients of ${clientName} get the translation, and which still the old service.`,
      ),
    ];
  const place = make("div");
  const fault = make("div");
  const by = make("input", { name: "by", maxlength: "100", required: true, autocomplete: "name" });
  const reason = make("input", { name: "reason", maxlength: "200", autocomplete: "off" });
  const target = make("select", { name: "target" });
  let shown;

  function show(rollout) {
    const text = JSON.stringify(rollout);
    if (text === shown) return;
    shown = text;
    place.replaceChildren(...content(rollout).filter(Boolean));
    const chosen = target.value;
    target.replaceChildren(
      ...targetsOf(rollout).map((name) => make("option", { value: name }, nameOf(name))),
    );
    if ([...target.options].some(({ value }) => value === chosen)) target.value = chosen;
  }

  async function turnBack() {
    try {
      const { rollout } = await write("/api/rollout/turn-back", {
        by: by.value.trim(),
        target: target.value,
        ...(reason.value.trim() !== "" && { reason: reason.value.trim() }),
      });
      fault.replaceChildren();
      say("Turned back");
      show(rollout);
    } catch (error) {
      fault.replaceChildren(problem(error.message));
    }
  }

  const form = make(
    "form",
    {
      class: "filters",
      "aria-label": "Turn back",
      onsubmit: (event) => {
        event.preventDefault();
        void turnBack();
      },
    },
    make("label", {}, "Your name", by),
    make("label", {}, "What", target),
    make("label", { class: "wide" }, "Reason", reason),
    make("button", { type: "submit" }, "Turn back now"),
  );
  show(first);
  repeat(async () => show((await read("/api/rollout", signal)).rollout), EVERY_MS, signal);
  return [head, form, fault, place];
}
