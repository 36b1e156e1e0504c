import { html } from "../html.js";
import { stateWords } from "../names.js";

/** The meanings of the states of a client's migration, as the server says them. The report has the same words and colours. */
export const CLIENT_STATES = Object.fromEntries(
  Object.entries(stateWords).map(([state, { meaning }]) => [state, meaning]),
);

/** The label of a state; a dash for what is nobody's migration. */
export function stateTag(state) {
  if (state === null) return "–";
  const { label, tone } = stateWords[state];
  return html`<span class=${`tag ${tone}`} data-readiness=${state.replace(" ", "-")} title=${CLIENT_STATES[state]}>${label}</span>`;
}
