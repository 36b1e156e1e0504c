import { make } from "../dom.js";
import { stateWords } from "../names.js";

/** What the states of a client's migration mean, as the server says it. The report has the same words and colours. */
export const READINESS = Object.fromEntries(
  Object.entries(stateWords).map(([state, { meaning }]) => [state, meaning]),
);

/** The label of a state; a dash for what is nobody's migration. */
export const readinessTag = (state) =>
  state === null
    ? "–"
    : make(
        "span",
        {
          class: `tag ${stateWords[state].tone}`,
          data: { readiness: state.replace(" ", "-") },
          title: READINESS[state],
        },
        stateWords[state].label,
      );
