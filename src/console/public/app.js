import { onReach, readHealth, readMetrics, repeat } from "./api.js";
import { bytes, count, ms } from "./format.js";
import { features, pages } from "./names.js";
import { startRouter } from "./router.js";
import { showCall } from "./views/call.js";
import { showClient } from "./views/client.js";
import { showClients } from "./views/clients.js";
import { FEATURE_VIEWS } from "./views/features.js";
import { showImpact } from "./views/impact.js";
import { showMappings } from "./views/mappings.js";
import { showMigration } from "./views/migration.js";
import { showRoute, showRoutes } from "./views/routes.js";
import { showTraffic } from "./views/traffic.js";

const HEALTH_EVERY_MS = 5000;
const find = (id) => document.getElementById(id);

onReach((reached) => {
  find("offline").hidden = reached;
  if (!reached) showHealth("not answering", false);
});

function showHealth(text, good) {
  const health = find("health");
  if (health.textContent !== text) health.textContent = text;
  health.dataset.good = good;
}

async function lookAfterHealth() {
  const { status, reasons } = await readHealth();
  showHealth([status, ...reasons].join(" · "), reasons.length === 0);
}

/** Shows the queue of the audit store, and its lost, written and compressed records since the start. */
async function showAuditStore() {
  const metrics = await readMetrics();
  const figure = (name) => metrics[`alpha_gateway_audit_${name}`] ?? 0;
  const [recorded, stored] = [figure("record_bytes_total"), figure("stored_bytes_total")];
  const store = find("audit-store");
  store.hidden = !("alpha_gateway_audit_queued" in metrics);
  store.textContent = [
    `Audit: ${count(figure("queued"))} waiting`,
    `${count(figure("dropped_total"))} lost`,
    `${bytes(recorded)} in ${bytes(stored)} (${(recorded / (stored || 1)).toFixed(1)} to 1)`,
    `${ms((1000 * figure("commit_seconds_sum")) / (figure("commit_seconds_count") || 1))} for a commit`,
  ].join(" · ");
}

/** A page whose feature is not configured can still be opened by its address, and explains how to configure it. */
function showPagesOfFeatures() {
  for (const link of document.querySelectorAll("nav [data-needs]"))
    link.hidden = !features[link.dataset.needs];
  const next = document.querySelector('nav [href="#/impact"]');
  for (const { address, title } of pages.filter(({ isShown }) => isShown)) {
    const link = document.createElement("a");
    link.href = `#/${address}`;
    link.textContent = title;
    next.before(link);
  }
}

function switchTheme() {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", dataset.theme);
}

showPagesOfFeatures();
find("theme").addEventListener("click", switchTheme);
document.querySelector(".skip").addEventListener("click", (event) => {
  // The fragment of the address belongs to the view.
  event.preventDefault();
  find("view").focus();
});
repeat(lookAfterHealth, HEALTH_EVERY_MS, new AbortController().signal);
repeat(showAuditStore, HEALTH_EVERY_MS, new AbortController().signal);

startRouter(find("view"), {
  traffic: { title: "Traffic", list: showTraffic, one: showCall },
  clients: { title: "Clients", list: showClients, one: showClient },
  routes: { title: "Routes", list: showRoutes, one: showRoute },
  migration: { title: "Migration", list: showMigration },
  ...FEATURE_VIEWS,
  impact: { title: "Impact", list: showImpact },
  mappings: { title: "Mappings", list: showMappings },
});
