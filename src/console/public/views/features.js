/** The pages of operator features: what their commands print, read again and again, and a form for their actions. */
import { read, write } from "../api.js";
import { showBlocks } from "../blocks.js";
import { Component, html } from "../html.js";
import { Live } from "../loaded.js";
import { clientName } from "../names.js";
import { emptyState, options, problem, say, viewHead } from "../parts.js";
import { showDifference } from "./difference.js";

/** A form for an action: the name of the operator, a reason, and what belongs to the action. */
class Action extends Component {
  form;

  /** Sends an action. Without a name it would be nobody's. */
  async act(action, given, done) {
    const { name, update } = this.props;
    if (!this.form.reportValidity()) return;
    const { by, reason, ...chosen } = Object.fromEntries(
      [...new FormData(this.form)].map(([field, value]) => [field, value.trim()]),
    );
    try {
      const body = { by, ...chosen, ...given, ...(reason !== "" && { reason }) };
      await write(`/api/${name}/${action}`, body);
      update(await read(`/api/pages/${name}`));
      this.setState({ fault: undefined });
      say(done);
    } catch (error) {
      this.setState({ fault: error.message });
    }
  }

  render({ form: { label, longestReason, fields, button, submit, beside }, page }, { fault }) {
    const { status, blocks } = page;
    const act = this.act.bind(this);
    const send = (event) => {
      event.preventDefault();
      void submit(status, act);
    };
    return html`
      <form
        ref=${(form) => {
          this.form = form;
        }}
        class="filters"
        aria-label=${label}
        onSubmit=${send}
      >
        <label>Your name<input name="by" maxlength="100" required autocomplete="name" /></label>
        ${fields?.(status)}
        <label class="wide">Reason<input name="reason" maxlength=${longestReason} autocomplete="off" /></label>
        <button type="submit">${button(status)}</button>
      </form>
      <div>${fault && problem(fault)}</div>
      ${showBlocks(blocks, (about) => beside?.(about, status, act))}
    `;
  }
}

/**
 * Creates the view of a feature.
 *
 * @param name of the feature, as the admin API has it
 * @param absent title and text where the gateway does not have it
 * @param form of its action: `label`, `longestReason`, `fields(status)`, `button(status)`, `submit(status, act)`, and what is
 *   `beside(about, status, act)` an item; `act(action, given, done)` sends an action and says that it is done
 */
function createView({ name, title, absent, everyMs, form }) {
  const load = (signal) => read(`/api/pages/${name}`, signal);
  const show = (page, update) =>
    form
      ? html`<${Action} name=${name} form=${form} page=${page} update=${update} />`
      : showBlocks(page.blocks);
  return async function showFeature({ signal }) {
    const first = await load(signal);
    if (first.status === null) return html`${viewHead(title)}${emptyState(...absent)}`;
    return html`
      ${viewHead(title)}
      <${Live} first=${first} load=${load} everyMs=${everyMs} show=${show} />
    `;
  };
}

/** Pauses or resumes all stages, or one. */
const change = (act, action, stage) =>
  act(
    action,
    stage === undefined ? {} : { stage },
    `${action === "pause" ? "Paused" : "Resumed"}: ${stage ?? "all stages"}`,
  );

const isPaused = ({ pauses }, stage = null) => pauses.some((pause) => pause.stage === stage);

/** The plan by which the old API ends, and its stop button. */
const showPlan = createView({
  name: "sunset",
  title: "Plan",
  everyMs: 5000,
  absent: [
    "There is no plan",
    `SUNSET_FILE names the file of a plan: dates and stages by which ${clientName} ends.`,
  ],
  form: {
    label: "Pause and resume",
    longestReason: 100,
    button: (plan) => (isPaused(plan) ? "Resume the plan" : "Pause the plan"),
    submit: (plan, act) => change(act, isPaused(plan) ? "resume" : "pause"),
    beside(stage, plan, act) {
      const action = isPaused(plan, stage) ? "resume" : "pause";
      return html`<button type="button" class="quiet" onClick=${() => void change(act, action, stage)}>
        ${action === "pause" ? "Pause" : "Resume"}
      </button>`;
    },
  },
});

const EVERYTHING = "all";

/** The possible targets of a return: everything, clients with the translation, and routes that are named somewhere. */
function targetsOf({ data, rules, clients, scores, trips }) {
  const routes =
    data.kind === "shared"
      ? [...rules.flatMap((rule) => rule.routes ?? []), ...scores.map(({ route }) => route)]
      : [];
  const names = clients.filter(({ side }) => side === "new").map(({ name }) => name);
  const returned = new Set(trips.map(({ name }) => name));
  return [...new Set([EVERYTHING, ...names, ...routes])].filter((name) => !returned.has(name));
}

/** The clients with the translation, and the button that returns them. */
const showRollout = createView({
  name: "rollout",
  title: "Roll-out",
  everyMs: 2000,
  absent: [
    "There is no roll-out",
    `ROLLOUT_FILE says which clients of ${clientName} get the translation, and which still the old service.`,
  ],
  form: {
    label: "Turn back",
    longestReason: 200,
    fields: (rollout) =>
      html`<label>
        What
        <select name="target">
          ${options(targetsOf(rollout).map((name) => [name, name === EVERYTHING ? "everything" : name]))}
        </select>
      </label>`,
    button: () => "Turn back now",
    submit: (_rollout, act) => act("turn-back", {}, "Turned back"),
  },
});

/** The results of comparisons, by source and route. */
const showParity = createView({ name: "parity", title: "Parity", everyMs: 5000 });

/** The views by their addresses. The feature of the plan has another name than its page. */
export const FEATURE_VIEWS = {
  plan: { title: "Plan", list: showPlan },
  parity: { title: "Parity", list: showParity, one: showDifference },
  rollout: { title: "Roll-out", list: showRollout },
};
