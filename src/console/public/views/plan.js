import { read, repeat, write } from "../api.js";
import { emptyState, make, problem, say } from "../dom.js";
import { ago, dateTime, dayOf } from "../format.js";
import { clientName } from "../names.js";

const EVERY_MS = 5000;

const STATES = {
  planned: "planned",
  active: "on now",
  waiting: "waits for clients",
  paused: "paused",
  over: "over",
};

/** When a stage is, or will next be, in force. */
function moments({ state, from, until, windows }) {
  if (from === null) return windows ? "no window comes any more" : "by the day of each client";
  if (!windows) return `from ${dayOf(from)}, ${ago(from)}`;
  return state === "active" || state === "paused"
    ? `${dateTime(from)} to ${dateTime(until)}`
    : `next ${ago(from)}: ${dateTime(from)} to ${dateTime(until)}`;
}

const scopeOf = ({ routes, clients, field, waitFor, blockedBy }) => [
  field !== null && make("span", {}, "leaves out ", make("code", {}, field)),
  routes.length > 0 && make("span", {}, "only ", make("code", {}, routes.join(", "))),
  clients.length > 0 && make("span", {}, `only for ${clients.join(", ")}`),
  waitFor.length > 0 && make("span", {}, `waits for ${waitFor.join(", ")}`),
  blockedBy.length > 0 && make("span", { class: "tag loss" }, `${blockedBy.join(", ")} called`),
];

/** Buttons keep the focus while the list is refreshed, since equal content stays as it is. */
const stageLine = (stage, pauses, act) =>
  make(
    "li",
    { data: { state: stage.state } },
    make(
      "span",
      { class: "tag", data: { open: stage.state !== "planned" && stage.state !== "over" } },
      STATES[stage.state],
    ),
    make("b", {}, stage.name),
    make("span", { class: "quiet" }, moments(stage)),
    scopeOf(stage),
    stage.state !== "over" &&
      (pauses.some((pause) => pause.stage === stage.name)
        ? make(
            "button",
            { type: "button", class: "quiet", onclick: () => act("resume", stage.name) },
            "Resume",
          )
        : make(
            "button",
            { type: "button", class: "quiet", onclick: () => act("pause", stage.name) },
            "Pause",
          )),
  );

const pauseLine = ({ stage, by, at, reason }, stages, act) =>
  make(
    "li",
    {},
    make("span", { class: "tag loss" }, "paused"),
    make("b", {}, stage ?? "all stages"),
    make(
      "span",
      { class: "quiet" },
      `by ${by}, ${ago(at)}, ${dateTime(at)}${reason === null ? "" : `: ${reason}`}`,
    ),
    // A stage that has left the plan has no line of its own.
    stage !== null &&
      !stages.some(({ name }) => name === stage) &&
      make("button", { type: "button", class: "quiet", onclick: () => act("resume", stage) }, "Resume"),
  );

const eventLine = ({ action, stage, by, at }) =>
  make(
    "li",
    {},
    make("span", {}, `${action}: ${stage ?? "all stages"}`),
    make("span", { class: "quiet" }, `by ${by}, ${dateTime(at)}`),
  );

function timeline({ announced, stages, pauses, events, inForce, allowed, clientEnds }, act) {
  const dates = [
    ...Object.entries(allowed).map(([name, day]) => `${name} is allowed until ${dayOf(day)}`),
    ...Object.entries(clientEnds).map(([name, day]) => `${name} ends on ${dayOf(day)}`),
  ];
  return [
    !inForce &&
      problem(
        "The state store could not be read yet, or the plan shortens a published date: it rejects no request.",
      ),
    pauses.length > 0 &&
      make(
        "ul",
        { class: "plain", "aria-label": "Pauses" },
        pauses.map((pause) => pauseLine(pause, stages, act)),
      ),
    make(
      "ol",
      { class: "plain timeline", "aria-label": "Stages" },
      make(
        "li",
        {},
        make("span", { class: "tag" }, "announced"),
        make("b", {}, dayOf(announced)),
        make("span", { class: "quiet" }, ago(announced)),
      ),
      stages.map((stage) => stageLine(stage, pauses, act)),
    ),
    dates.length > 0 &&
      make(
        "section",
        {},
        make("h2", {}, "Clients with days of their own"),
        make(
          "ul",
          { class: "plain" },
          dates.map((text) => make("li", {}, text)),
        ),
      ),
    events.length > 0 &&
      make(
        "section",
        {},
        make("h2", {}, "Pauses so far"),
        make("ul", { class: "plain" }, events.map(eventLine)),
      ),
  ];
}

/** The plan by which the old API ends, and its stop button. */
export async function showPlan({ signal }) {
  const head = make("div", { class: "head" }, make("h1", {}, "Plan"));
  const { plan: first } = await read("/api/sunset", signal);
  if (first === null)
    return [
      head,
      emptyState(
        "There is no plan",
        `SUNSET_FILE names the file of a plan: dates and stages by which ${clientName} ends.`,
      ),
    ];
  const place = make("div");
  const fault = make("div");
  const by = make("input", { name: "by", maxlength: "100", required: true, autocomplete: "name" });
  const reason = make("input", { name: "reason", maxlength: "100", autocomplete: "off" });
  let shown;

  function show(plan) {
    const text = JSON.stringify(plan);
    if (text === shown) return;
    shown = text;
    place.replaceChildren(
      ...timeline(plan, (action, stage) => void act(action, stage))
        .flat()
        .filter(Boolean),
    );
    const isPaused = plan.pauses.some(({ stage }) => stage === null);
    stop.textContent = isPaused ? "Resume the plan" : "Pause the plan";
    stop.dataset.action = isPaused ? "resume" : "pause";
  }

  async function act(action, stage) {
    // A pause without a name would be nobody's.
    if (!form.reportValidity()) return;
    try {
      const { plan } = await write(`/api/sunset/${action}`, {
        by: by.value.trim(),
        ...(stage !== undefined && { stage }),
        ...(reason.value.trim() !== "" && { reason: reason.value.trim() }),
      });
      fault.replaceChildren();
      show(plan);
      say(`${action === "pause" ? "Paused" : "Resumed"}: ${stage ?? "all stages"}`);
    } catch (error) {
      fault.replaceChildren(problem(error.message));
    }
  }

  const stop = make("button", { type: "submit" });
  const form = make(
    "form",
    {
      class: "filters",
      "aria-label": "Pause and resume",
      onsubmit: (event) => {
        event.preventDefault();
        void act(stop.dataset.action);
      },
    },
    make("label", {}, "Your name", by),
    make("label", { class: "wide" }, "Reason", reason),
    stop,
  );
  show(first);
  repeat(async () => show((await read("/api/sunset", signal)).plan), EVERY_MS, signal);
  return [head, form, fault, place];
}
