import { onReach, readHealth, repeat } from "./api.js";
import { startRouter } from "./router.js";
import { showCall } from "./views/call.js";
import { showClient } from "./views/client.js";
import { showClients } from "./views/clients.js";
import { showMappings } from "./views/mappings.js";
import { showMigration } from "./views/migration.js";
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

function switchTheme() {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", dataset.theme);
}

find("theme").addEventListener("click", switchTheme);
document.querySelector(".skip").addEventListener("click", (event) => {
  // The fragment of the address is the view's.
  event.preventDefault();
  find("view").focus();
});
repeat(lookAfterHealth, HEALTH_EVERY_MS, new AbortController().signal);

startRouter(find("view"), {
  traffic: { title: "Traffic", list: showTraffic, one: showCall },
  clients: { title: "Clients", list: showClients, one: showClient },
  migration: { title: "Migration", list: showMigration },
  mappings: { title: "Mappings", list: showMappings },
});
