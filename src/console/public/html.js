/** Elements of the console, by preact and htm. Text is never parsed as HTML, regardless of its content. */
import htm from "./lib/htm.js";
import { Component, Fragment, h, render } from "./lib/preact.js";

/** `html\`<td class="number">${count}</td>\``; `<${Component} name=${value} />` for a component. */
export const html = htm.bind(h);

export { Component, Fragment, render };
