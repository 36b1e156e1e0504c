/** The schemas of `pagination` in `pack.yaml`: how each dialect pages its lists. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { LINK_RELATIONS } from "./links.ts";
import { headerName } from "../values/text-types.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

const queryParameter = (example: string) => about(name, "The query parameter.", example);

export const pageStyle = z.strictObject({
  parameter: queryParameter("page"),
  first: about(z.int().min(0).max(1).default(1), "Number of the first page.", 0),
});

const offsetStyle = z.strictObject({
  parameter: queryParameter("offset"),
  first: about(z.int().min(0).max(1).default(0), "Offset of the first item.", 1),
});

const invalidPosition = about(
  z.enum(["reject", "default"]).default("reject"),
  "An invalid value gets status 400 (`reject`), or the first page (`default`).",
  "default",
);

const page = <Style extends z.ZodType>(style: Style) =>
  about(style.optional(), "Pages have numbers.", { parameter: "page", first: 0 });

const offset = <Style extends z.ZodType>(style: Style) =>
  about(style.optional(), "A page starts at an offset, counted in items.", { parameter: "offset" });

export const cursorStyle = z.strictObject({
  parameter: queryParameter("starting_after"),
  item: textKey(
    "The cursor is this member of the previous page's last item. Default: an opaque cursor of `$next_cursor`, `$next_link` or the `Link` header.",
    "id",
  ),
  before: textKey(
    "The query parameter for the page before a cursor. Default: `parameter` takes both.",
    "ending_before",
  ),
});

const cursor = <Style extends z.ZodType>(style: Style) =>
  about(style.optional(), "A page starts after a cursor.", { parameter: "starting_after", item: "id" });

const totalHeader = about(
  headerName.optional(),
  "A response header with the number of all items.",
  "X-Total-Count",
);

const maximum = (text: string) => about(z.int().positive().max(10_000), text, 100);

const fixedSize = about(z.int().positive().max(10_000), "Number of items of every page.", 25);

/** How clients request a page. */
export const clientPagination = z.strictObject({
  page: page(pageStyle.extend({ invalid: invalidPosition })),
  offset: offset(offsetStyle.extend({ invalid: invalidPosition })),
  cursor: cursor(
    cursorStyle.extend({
      none: about(
        z.literal("").optional(),
        "The value of `$next_cursor` and `$previous_cursor` if there is no such page. Default: null.",
        "",
      ),
    }),
  ),
  size: about(
    z.union([
      fixedSize,
      z.strictObject({
        parameter: queryParameter("limit"),
        default: about(z.int().positive(), "The size if the client sends none.", 10),
        maximum: maximum("The largest number."),
        above: about(
          z.enum(["reject", "maximum"]).default("reject"),
          "A larger number gets status 400 (`reject`), or a page of the `maximum`.",
          "maximum",
        ),
        invalid: about(
          z.enum(["reject", "default"]).default("reject"),
          "An invalid number gets status 400 (`reject`), or a page of the `default`.",
          "default",
        ),
        in_links: about(
          z.enum(["as_sent", "always"]).default("as_sent"),
          "Links to other pages contain the size only if the client sent it (`as_sent`), or always (`always`).",
          "always",
        ),
      }),
    ]),
    "Items per page: a fixed number, or the client's choice.",
    { parameter: "limit", default: 10, maximum: 100 },
  ),
  link_header: about(
    z.union([z.boolean(), z.array(z.enum(LINK_RELATIONS)).min(1)]).default(false),
    "The relations in the `Link` header (RFC 8288) of lists. `true`: first, prev, next and last.",
    ["next", "last"],
  ),
  links: about(
    z.enum(["path", "absolute"]).default("path"),
    "Links to other pages are paths, or URLs below `PUBLIC_URL` (`absolute`).",
    "absolute",
  ),
  behind_end: about(
    z.enum(["last", "before", "none"]).default("last"),
    "The previous page of a page behind the end: the `last` page (the default), the page `before` it by number or offset, or `none`.",
    "before",
  ),
  total_header: totalHeader,
  range_header: about(
    z
      .preprocess(
        (header) => (typeof header === "string" ? { name: header } : header),
        z.strictObject({
          name: about(headerName, "Name of the header.", "Content-Range"),
          unit: about(
            z
              .string()
              .regex(/^[\w-]+$/, "is not a unit: letters and digits")
              .default("items"),
            "What is counted.",
            "orders",
          ),
        }),
      )
      .optional(),
    "A response header with the positions of the items, from 0, and the total, if known: `items 0-9/97`. A text is the header's name.",
    "Content-Range",
  ),
});

/** How the upstream pages its lists. */
export const upstreamPagination = z.strictObject({
  page: page(pageStyle),
  offset: offset(offsetStyle),
  cursor: cursor(cursorStyle),
  size: about(
    z.union([
      fixedSize,
      z.strictObject({ parameter: queryParameter("page_size"), maximum: maximum("The largest number.") }),
    ]),
    "Items per page: a fixed number, or the gateway's choice.",
    { parameter: "page_size", maximum: 100 },
  ),
  link_header: about(
    z.boolean().default(false),
    "Lists have a `Link` header (RFC 8288) with the next page.",
    true,
  ),
  total_header: totalHeader,
  max_items: about(
    z.int().positive().optional(),
    "The most items that the gateway reads for one page of the client. Default: 1000, or 100 pages.",
    1000,
  ),
});

const none = z.literal("none");

/** How the upstream pages the list of a catalog, if it differs from `pack.yaml`. */
export const catalogPagination = about(
  z.union([none, upstreamPagination]).optional(),
  "The keys of `upstream.pagination`, or `none`. Default: as in `pack.yaml`.",
  "none",
);

/** How the lists of one route are paged, if it differs from `pack.yaml`. */
export const routePagination = z.union([
  none,
  z.strictObject({
    client: about(
      z.union([none, clientPagination]).optional(),
      "The keys of `client.pagination`, or `none`. Default: as in `pack.yaml`.",
      "none",
    ),
    upstream: about(
      z.union([none, upstreamPagination]).optional(),
      "The keys of `upstream.pagination`, or `none`. Default: as in `pack.yaml`.",
      { offset: { parameter: "skip" }, size: { parameter: "take", maximum: 50 } },
    ),
  }),
]);

export type RoutePagination = z.infer<typeof routePagination>;
export type ClientPagination = z.infer<typeof clientPagination>;
export type UpstreamPagination = z.infer<typeof upstreamPagination>;
