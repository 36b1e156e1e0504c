import { html, render } from "./html.js";
import { Loaded } from "./loaded.js";

/** Decodes a part of an address; undefined if it contains an invalid escape. */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Parses `#/clients/0123?route=GET+/x` into the view, its subject, and its parameters. */
function place() {
  const [path = "", query = ""] = location.hash.slice(1).split("?", 2);
  const parts = path.split("/").map(decode);
  const [, view = "", id] = parts;
  return { view, id, parameters: new URLSearchParams(query), isReadable: !parts.includes(undefined) };
}

/** Returns the address of a view. */
export function address(view, id, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined);
  const query = new URLSearchParams(given).toString();
  return `#/${[view, id]
    .filter((part) => part !== undefined)
    .map(encodeURIComponent)
    .join("/")}${query && `?${query}`}`;
}

/** Changes the parameters in the address without opening a new view. */
export function keepInAddress(view, parameters, id) {
  history.replaceState(null, "", address(view, id, parameters));
}

/** Shows the view in the address, with its title. If the address contains no view, shows the first one. */
export function startRouter(main, views) {
  let shown = 0;

  function show(focus) {
    const { view, id, parameters, isReadable } = place();
    const name = Object.hasOwn(views, view) ? view : Object.keys(views)[0];
    const { title, list, one } = views[name];
    document.title = `${title} · alpha-gateway`;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash.startsWith(`#/${name}`)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }

    async function load(signal) {
      if (!isReadable) throw new Error("There is nothing here.");
      return id !== undefined && one ? one(id, { signal, parameters }) : list({ signal, parameters });
    }

    shown += 1;
    render(html`<${Loaded} key=${shown} load=${load} />`, main);
    if (!focus) return;
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  addEventListener("hashchange", () => show(true));
  show(false);
}
