/** The schema of `scopes` in `pack.yaml`. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { headerName } from "../values/text-types.ts";

const name = z.string().min(1);

export const scopes = z.strictObject({
  levels: about(z.array(name).min(1), "The client's levels, ascending. Each includes all levels before it.", [
    "look",
    "write",
  ]),
  all: about(name, "The scope that includes all scopes, and the name of the highest level.", "*"),
  resources: about(z.record(name, name), "Client resource → upstream area.", { books: "items" }),
  aliases: about(z.record(name, name).optional(), "Other names of client resources.", {
    writers: "books",
  }),
  upstream_levels: about(z.record(name, name), "Client level → upstream level.", { view: "read_only" }),
  client_levels: about(z.record(name, name), "Upstream level → client level.", { read_only: "look" }),
  additional: about(z.array(name).optional(), "Upstream scopes that are requested with any other scope.", [
    "events:read_only",
  ]),
  header: about(
    headerName.optional(),
    "The upstream's response header with the scopes of the token.",
    "X-Scopes",
  ),
});
