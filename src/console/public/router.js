import { Offline } from "./api.js";
import { loading, problem } from "./dom.js";

/** A part of an address; undefined for one with an invalid escape. */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** `#/clients/0123?route=GET+/x` → view, what of it, and its parameters. */
function place() {
  const [path = "", query = ""] = location.hash.slice(1).split("?", 2);
  const parts = path.split("/").map(decode);
  const [, view = "", id] = parts;
  return { view, id, parameters: new URLSearchParams(query), isReadable: !parts.includes(undefined) };
}

/** The address of a view. */
export function address(view, id, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined);
  const query = new URLSearchParams(given).toString();
  return `#/${[view, id]
    .filter((part) => part !== undefined)
    .map(encodeURIComponent)
    .join("/")}${query && `?${query}`}`;
}

/** Changes the parameters in the address without a new view. */
export function keepInAddress(view, parameters, id) {
  history.replaceState(null, "", address(view, id, parameters));
}

const RETRY_MS = 3000;

/** Shows the view that the address names, and its title; the first one where it names none. */
export function startRouter(main, views) {
  let current = new AbortController();

  async function show(focus) {
    current.abort();
    const own = (current = new AbortController());
    const { signal } = own;
    const { view, id, parameters, isReadable } = place();
    const name = Object.hasOwn(views, view) ? view : Object.keys(views)[0];
    const { title, list, one } = views[name];
    document.title = `${title} · alpha-gateway`;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash.startsWith(`#/${name}`)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    main.replaceChildren(loading());
    if (focus) main.focus({ preventScroll: true });
    try {
      if (!isReadable) throw new Error("There is nothing here.");
      const content = await (id !== undefined && one
        ? one(id, { signal, parameters })
        : list({ signal, parameters }));
      if (!signal.aborted) main.replaceChildren(...[content].flat());
    } catch (error) {
      if (signal.aborted) return;
      main.replaceChildren(problem(error.message));
      // It comes back with the gateway.
      if (error instanceof Offline || error.status >= 500)
        setTimeout(() => signal.aborted || void show(false), RETRY_MS);
    }
    if (focus) scrollTo(0, 0);
  }

  addEventListener("hashchange", () => void show(true));
  void show(false);
}
