/** Content that is read from the gateway. */
import { Offline, repeat } from "./api.js";
import { Component } from "./html.js";
import { loading, problem } from "./parts.js";

const RETRY_MS = 3000;

/** Whether an error is temporary: the content can be loaded after the gateway is back. */
const isPassing = (error) => error instanceof Offline || error?.status >= 500;

/** Loads a content. @returns its `value`, or the `error` */
export async function tryLoad(load, signal) {
  try {
    return { value: await load(signal) };
  } catch (error) {
    return { error };
  }
}

/**
 * Shows the result of `load(signal)`, or its problem, and retries temporary ones. A new `key` loads it again.
 *
 * @param first the result of an earlier {@link tryLoad}
 */
export class Loaded extends Component {
  control = new AbortController();
  state = this.props.first ?? {};

  componentDidMount() {
    if (this.props.first) this.retryLater();
    else void this.load();
  }

  componentWillUnmount() {
    this.control.abort();
  }

  async load() {
    const { load, onLoaded } = this.props;
    const found = await tryLoad(load, this.control.signal);
    if (this.control.signal.aborted) return;
    this.setState({ value: undefined, error: undefined, ...found });
    if (!found.error) onLoaded?.();
    this.retryLater();
  }

  retryLater() {
    const { signal } = this.control;
    if (isPassing(this.state.error)) setTimeout(() => signal.aborted || void this.load(), RETRY_MS);
  }

  render(_props, { value, error }) {
    if (error) return problem(error.message);
    return value === undefined ? loading : value;
  }
}

/**
 * Shows a value that is changed on the page, and may be read repeatedly: `show(value, set)`.
 *
 * @param first the value at the start
 * @param load reads it: `load(signal)`; undefined: it is only changed on the page
 */
export class Live extends Component {
  control = new AbortController();
  state = { value: this.props.first };

  componentDidMount() {
    const { load, everyMs } = this.props;
    const { signal } = this.control;
    if (load) repeat(async () => this.setState({ value: await load(signal) }), everyMs, signal);
  }

  componentWillUnmount() {
    this.control.abort();
  }

  render({ show }, { value }) {
    return show(value, (next) => this.setState({ value: next }));
  }
}
