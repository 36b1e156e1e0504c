const find = (id) => document.getElementById(id);

/** Opens one record: what alpha asked and got, beside the v4 calls that were made for it. */
export function showRecord(record) {
  const { alpha, client, timings, bytes } = record;
  find("detail-title").textContent = `${alpha.method} ${alpha.path}`;
  find("facts").replaceChildren(
    ...facts({
      Time: record.time,
      Lane: record.lane,
      Route: alpha.route ?? "none matched",
      "Request id": record.requestId,
      Client: [client.fingerprint ?? "no token", client.address, client.userAgent]
        .filter(Boolean)
        .join(" · "),
      Duration: `${ms(timings.total)}, of which v4 ${ms(timings.upstream)}, translation ${ms(timings.translation)}`,
      Bytes: `${bytes.in} in, ${bytes.out} out`,
      "Not kept": record.losses,
      Warnings: record.warnings,
    }),
  );
  const query = alpha.query ? `?${alpha.query}` : "";
  find("alpha").replaceChildren(call({ ...alpha, path: alpha.path + query }));
  find("v4").replaceChildren(...record.v4.map(call));
  if (record.v4.length === 0) find("v4").append(element("p", "No call was made.", "hint"));
  find("detail").showModal();
  find("detail").scrollTop = 0;
}

function facts(values) {
  const lines = [];
  for (const [name, value] of Object.entries(values)) {
    if (value.length === 0) continue;
    lines.push(element("dt", name));
    for (const line of [value].flat()) lines.push(element("dd", line));
  }
  return lines;
}

function ms(time) {
  return `${Number(time.toFixed(1))} ms`;
}

function call({ method, path, filter, body, status, response, ms: time }) {
  const box = element("article");
  const head = element("p", "", "line");
  const badge = element("span", status ?? "no answer", "badge");
  badge.dataset.class = status === null ? 5 : Math.trunc(status / 100);
  head.append(badge, ` ${method} ${path}${time === undefined ? "" : ` (${ms(time)})`}`);
  box.append(head, ...part("Filter", filter), ...part("Request", body), ...part("Answer", response));
  return box;
}

function part(name, value) {
  if (value === undefined || value === null) return [];
  const cut = value.truncated === true && typeof value.text === "string";
  const text = cut ? value.text : value;
  const shown = typeof text === "string" ? text : JSON.stringify(text, null, 2);
  const bytes = cut && value.bytes ? ` of ${value.bytes} bytes` : "";
  return [element("h4", cut ? `${name} (only the beginning${bytes})` : name), block(shown)];
}

/** A box that scrolls has to be reachable by keyboard. */
function block(text) {
  const pre = element("pre", text);
  pre.tabIndex = 0;
  return pre;
}

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}
