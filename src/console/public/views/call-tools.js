import { html } from "../html.js";
import { Live } from "../loaded.js";
import { say } from "../parts.js";
import { clientName, upstreamName } from "../names.js";

const MOMENT_MS = 1500;

/** Copies a text. `navigator.clipboard` only exists on https and localhost; the older way works everywhere. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.className = "unseen";
  area.ariaHidden = "true";
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("copying is not allowed");
}

function copyButton(name, text) {
  async function act(show) {
    const result = await copy(text).then(
      () => "Copied",
      () => "Could not copy",
    );
    show(result);
    say(`${name}: ${result}`);
    setTimeout(() => show(name), MOMENT_MS);
  }
  const button = (shown, show) =>
    html`<button type="button" onClick=${() => void act(show)}>${shown}</button>`;
  return html`<${Live} first=${name} show=${button} />`;
}

function saveButton(name, file, text) {
  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), MOMENT_MS);
  }
  return html`<button type="button" onClick=${save}>${name}</button>`;
}

/** Returns the link to an export of only this time and client. */
function harLink({ id, time, client }) {
  const until = new Date(new Date(time).getTime() + 1).toISOString();
  const query = new URLSearchParams({ format: "har", since: time, until });
  if (client.fingerprint) query.set("client", client.fingerprint);
  return html`<a class="button" href=${`/api/audit/export?${query}`} download=${`${id}.har`}>Download HAR</a>`;
}

/** Shows buttons that copy or download a call. */
export const callTools = (record, curl) =>
  html`<div class="tools" role="group" aria-label="Take away">
    ${copyButton(`Copy as curl (${clientName})`, curl.alpha)}
    ${curl.v4.length > 0 && copyButton(`Copy as curl (${upstreamName})`, curl.v4.join("\n\n"))}
    ${saveButton("Download JSON", `${record.id}.json`, JSON.stringify(record, null, 2))} ${harLink(record)}
  </div>`;
