import { make, say } from "../dom.js";
import { clientName, upstreamName } from "../names.js";

const MOMENT_MS = 1500;

/** `navigator.clipboard` is there on https and localhost alone; the older way works anywhere. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = make("textarea", { class: "unseen", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("copying is not allowed");
}

function copyButton(name, text) {
  const button = make("button", { type: "button", onclick: () => void act() }, name);
  async function act() {
    const done = await copy(text).then(
      () => true,
      () => false,
    );
    button.textContent = done ? "Copied" : "Could not copy";
    say(`${name}: ${button.textContent}`);
    setTimeout(() => (button.textContent = name), MOMENT_MS);
  }
  return button;
}

function saveButton(name, file, text) {
  return make("button", { type: "button", onclick: save }, name);
  function save() {
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    make("a", { href: url, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(url), MOMENT_MS);
  }
}

/** The export narrowed to this one moment and client. */
function harLink({ id, time, client }) {
  const until = new Date(new Date(time).getTime() + 1).toISOString();
  const query = new URLSearchParams({ format: "har", since: time, until });
  if (client.fingerprint) query.set("client", client.fingerprint);
  return make(
    "a",
    { class: "button", href: `/api/audit/export?${query}`, download: `${id}.har` },
    "Download HAR",
  );
}

/** What one can take away of a call. */
export function callTools(record, curl) {
  return make(
    "div",
    { class: "tools", role: "group", "aria-label": "Take away" },
    copyButton(`Copy as curl (${clientName})`, curl.alpha),
    curl.v4.length > 0 && copyButton(`Copy as curl (${upstreamName})`, curl.v4.join("\n\n")),
    saveButton("Download JSON", `${record.id}.json`, JSON.stringify(record, null, 2)),
    harLink(record),
  );
}
