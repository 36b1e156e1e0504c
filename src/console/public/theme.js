// Runs before the page is painted, so that a chosen theme doesn't flash. Without a choice the system's counts.
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
