import { make } from "../dom.js";
import { clientName, upstreamName } from "../names.js";

const LABELS = { silent: "silent: unknown" };

/** The states of a client's migration, as the server decides them. */
export const READINESS = {
  "not begun": `uses ${clientName} only`,
  moving: "uses both",
  ready: `has called ${upstreamName} and not ${clientName} lately`,
  silent: "has sent no request lately: whether it has migrated is unknown",
};

/** The label of a state; a dash for what is nobody's migration. */
export const readinessTag = (state) =>
  state === null
    ? "–"
    : make(
        "span",
        { class: "tag", data: { readiness: state.replace(" ", "-") }, title: READINESS[state] },
        LABELS[state] ?? state,
      );
