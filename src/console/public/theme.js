// Runs before the page is painted, so that a chosen theme doesn't flash. If no theme was chosen, the system's theme is used.
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
