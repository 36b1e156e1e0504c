/** The pages of operator features: the output of their commands, refreshed regularly, and a form for their actions. */
import { read, write } from "../api.js";
import { showBlocks } from "../blocks.js";
import { Component, html } from "../html.js";
import { Live } from "../loaded.js";
import { pages } from "../names.js";
import { emptyState, options, problem, say, viewHead } from "../parts.js";
import { showDifference } from "./difference.js";

const EVERY_MS = 2000;

class FeaturePage extends Component {
  form;

  /** Sends an action. It needs the name of the operator. */
  async act({ action, given, done }) {
    const { name, update } = this.props;
    if (!this.form.reportValidity()) return;
    const { reason, ...filled } = Object.fromEntries(
      [...new FormData(this.form)].map(([field, value]) => [field, value.trim()]),
    );
    try {
      const body = { ...filled, ...given, ...(reason !== "" && { reason }) };
      await write(`/api/${name}/${action}`, body);
      update(await read(`/api/pages/${name}`));
      this.setState({ fault: undefined });
      say(done);
    } catch (error) {
      this.setState({ fault: error.message });
    }
  }

  render({ page: { blocks, form } }, { fault }) {
    if (!form) return showBlocks(blocks);
    const { label, longestReason, choice, button } = form;
    const send = (event) => {
      event.preventDefault();
      void this.act(button);
    };
    return html`
      <form
        ref=${(element) => {
          this.form = element;
        }}
        class="filters"
        aria-label=${label}
        onSubmit=${send}
      >
        <label>Your name<input name="by" maxlength="100" required autocomplete="name" /></label>
        ${
          choice &&
          html`<label>${choice.label}<select name=${choice.name}>${options(choice.options)}</select></label>`
        }
        <label class="wide">Reason<input name="reason" maxlength=${longestReason} autocomplete="off" /></label>
        <button type="submit">${button.text}</button>
      </form>
      <div>${fault && problem(fault)}</div>
      ${showBlocks(blocks, (beside) => this.act(beside))}
    `;
  }
}

/** Creates the view of a feature. @param absent title and text if the gateway does not have the feature */
function createView({ name, title, absent }) {
  const load = (signal) => read(`/api/pages/${name}`, signal);
  const show = (page, update) => html`<${FeaturePage} name=${name} page=${page} update=${update} />`;
  return async function showFeature({ signal }) {
    const first = await load(signal);
    if (first.status === null) return html`${viewHead(title)}${emptyState(...absent)}`;
    return html`
      ${viewHead(title)}
      <${Live} first=${first} load=${load} everyMs=${EVERY_MS} show=${show} />
    `;
  };
}

/** The views by address. */
export const FEATURE_VIEWS = Object.fromEntries(
  pages.map((page) => {
    const { address, title, name, hasItems } = page;
    const one = (id, given) => showDifference(`/api/${name}/${encodeURIComponent(id)}`, given);
    return [address, { title, list: createView(page), ...(hasItems && { one }) }];
  }),
);
