import { read } from "../api.js";
import { dayName, plural, verbFor } from "../format.js";
import { Component, html } from "../html.js";
import { emptyState, hint, options, say, viewHead } from "../parts.js";
import { keepInAddress } from "../router.js";
import { clientColumn } from "./clients.js";
import { countColumn } from "./columns.js";
import { sortableTable } from "./sortable.js";

const NOBODY_KNOWS =
  "These clients get it. Nobody can know which of them read it: a field brown-out of the plan leaves it out for a while, and shows who misses it.";

const columns = (isExact) => [
  clientColumn,
  countColumn(isExact ? "Calls" : "Calls at most", ({ calls }) => calls),
  {
    name: "Last day",
    number: true,
    value: ({ last }) => Date.parse(last),
    cell: ({ last }) => html`<time datetime=${last} title=${last}>${dayName(last)}</time>`,
  },
];

const group = (label, names, chosen) =>
  names.length > 0 &&
  html`<optgroup label=${label}>
    ${options(
      names.map((name) => [name, name]),
      chosen,
    )}
  </optgroup>`;

/** Returns the subject of a name in a query: `body.plan=small` is a word of a field. */
function subjectOf(route, name) {
  const query = new URLSearchParams({ route });
  const at = name.indexOf("=");
  if (name) query.set("field", at < 0 ? name : name.slice(0, at));
  if (at >= 0) query.set("word", name.slice(at + 1));
  return query;
}

/** The clients that would notice, with the known facts about them. */
function results({ notices, clients, readers, namesSince }, name) {
  const isRead = name.startsWith("answer.");
  const rows = isRead ? readers : clients;
  const what = name || "this route";
  if (rows.length === 0)
    return emptyState(
      isRead ? "No client gets it" : "No client would notice",
      `No call with ${what} is counted.`,
    );
  const isCounted = notices.every(({ isExact }) => isExact);
  const isSent = name !== "" && !isRead;
  const verb = isRead ? "get" : name ? "send" : "call";
  const head = `${plural(rows.length, "client")} ${verbFor(rows.length, verb)} ${what}`;
  say(head);
  const shown = columns(!isSent);
  return html`
    <h2>${head}</h2>
    ${isRead && hint(NOBODY_KNOWS)}
    ${
      namesSince !== null &&
      isSent &&
      hint(
        `Names are known since ${namesSince}, and calls for longer: who sent it only before is not listed.`,
      )
    }
    ${!isCounted && hint("Senders are not counted: these are all callers.")}
    ${
      isCounted &&
      isSent &&
      hint("All calls on the days on which a client sent it: at most that many had it.")
    }
    ${sortableTable({ caption: head, columns: shown, rows, sorted: shown[1].name })}
  `;
}

/** Returns the displayed content for a choice, and the available names. */
async function find({ route, name }, signal) {
  if (route === "")
    return {
      content: emptyState(
        "Who would notice?",
        "Choose a route, and a member or a word of it: the clients that use it are listed.",
      ),
    };
  try {
    const answer = await read(`/api/usage/impact?${subjectOf(route, name)}`, signal);
    return { content: results(answer, name), names: answer.names ?? {} };
  } catch (error) {
    return { content: emptyState("Nothing is counted", error.message) };
  }
}

class Impact extends Component {
  state = { chosen: this.props.chosen, found: this.props.found };

  async choose(chosen) {
    keepInAddress("impact", chosen);
    this.setState({ chosen });
    const found = await find(chosen, this.props.signal);
    // A different choice may have been made in the meantime.
    if (this.state.chosen === chosen) this.setState({ found });
  }

  render({ routes }, { chosen, found: { content, names } }) {
    const { route, name } = chosen;
    const { sent = [], read: answered = [] } = names ?? {};
    return html`
      <form class="filters" aria-label="What may go" onSubmit=${(event) => event.preventDefault()}>
        <label class="wide">Route<select
            name="route"
            onChange=${({ target }) => void this.choose({ route: target.value, name: "" })}
          >
            ${options([["", "choose a route"], ...routes.map((each) => [each, each])], route)}
          </select></label>
        <label class="wide">Member, parameter or word<select
            key=${route}
            name="name"
            disabled=${names === undefined}
            onChange=${({ target }) => void this.choose({ route, name: target.value })}
          >
            ${options([["", "the whole route"]], name)} ${group("Clients send", sent, name)}
            ${group("Answers have", answered, name)}
          </select></label>
      </form>
      <section aria-label="Clients">${content}</section>
    `;
  }
}

/** Shows the clients that would notice if a route, a member or a word were removed. */
export async function showImpact({ signal, parameters }) {
  const { routes } = await read("/api/mappings", signal);
  const names = [...new Set(routes.map(({ alpha }) => alpha))];
  const chosen = { route: parameters.get("route") ?? "", name: parameters.get("name") ?? "" };
  const found = await find(chosen, signal);
  return html`${viewHead("Impact")}<${Impact}
      routes=${names}
      chosen=${chosen}
      found=${found}
      signal=${signal}
    />`;
}
