import { read } from "./api.js";

const [{ names, exportFormats: formats, states, ...others }, ofFeatures] = await Promise.all([
  read("/api"),
  read("/api/pages"),
]);

/** Capitalizes a name for the start of a label. A name with a number, such as `v4`, stays unchanged. */
const capitalize = (name) => (/\d/.test(name) ? name : name[0].toUpperCase() + name.slice(1));

/** The names of both sides in the pack. */
export const { client: clientName, upstream: upstreamName } = names;

/** The client's name for the start of a label. */
export const ClientName = capitalize(clientName);

/** The states of a client's migration, as in the report: their labels, tones and meanings. */
export const stateWords = states;

/** Whether the gateway has each of the features that pages need. */
export const features = others;

/** The pages of operator features, in the order of the navigation. */
export const { pages } = ofFeatures;

/** The names of all export formats. */
export const exportFormats = formats;
