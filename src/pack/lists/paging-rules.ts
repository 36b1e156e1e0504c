/** Reports pages that the gateway can't ask for, and values of them that nobody knows. */
import { LIST_VALUES } from "./page-values.ts";
import type { PagingStyle } from "./styles.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import {
  canGoBack,
  clientCursor,
  hasAny,
  hasLink,
  isDirectPaging,
  isMultiple,
  linkRelations,
  MAX_REQUESTS,
  PREVIOUS,
  TOTALS,
  type Sides,
} from "./paging-sides.ts";

type Upstream = DialectDefinition["upstream"];

/** Where both paginations are, and the list of the client. */
interface Places {
  readonly client: SourceLocation;
  readonly upstream: SourceLocation;
  readonly list: SourceLocation;
}

/** Reports values that the gateway can't know, or can't request. */
export function reportPaging(sides: Sides, upstream: Upstream, location: SourceLocation): void {
  const at: Places = {
    client: location.at("client", "pagination"),
    upstream: location.at("upstream", "pagination"),
    list: location.at("client", "responses", "list"),
  };
  reportValues(sides, at);
  reportTotal(sides, upstream, at);
  reportClientPages(sides, at);
  reportPrevious(sides, upstream, at);
  reportUpstreamPrevious(sides, at);
  if (!sides.pages.style) return;
  reportRequests(sides, upstream, at);
  reportUpstreamCursors(sides, upstream, at);
}

/** Values that exist with some styles only. */
const STYLES_OF: Readonly<Record<string, readonly PagingStyle["kind"][]>> = {
  page: ["page", "offset"],
  pages: ["page", "offset"],
  offset: ["page", "offset"],
  next_page: ["page"],
  previous_page: ["page"],
  next_offset: ["offset"],
  next_cursor: ["cursor"],
  previous_cursor: ["cursor"],
  last_link: ["page"],
};

function reportValues({ style, names }: Sides, { list }: Places): void {
  for (const name of LIST_VALUES.filter((each) => names.client.has(each))) {
    const kinds = STYLES_OF[name];
    if (style && kinds && !kinds.includes(style.kind))
      list.report(`"$${name}" needs "pagination" with ${kinds.map((kind) => `"${kind}"`).join(" or ")}`);
  }
}

/** Reports totals of the client that the upstream does not have. */
function reportTotal(sides: Sides, { name: upstream }: Upstream, at: Places): void {
  const { style, pages, names, client } = sides;
  if (names.upstream.has("total") || pages.totalHeader !== undefined || !pages.style || !style) return;
  const needsTotal = TOTALS.find((name) => names.client.has(name));
  if (needsTotal !== undefined && !isDirectPaging(sides))
    at.list.report({
      message: `the gateway does not know "$${needsTotal}": lists of ${upstream} have no total`,
      hint: "add $total to the upstream's list, or total_header to its pagination",
    });
  if (client?.total_header !== undefined)
    at.client.at("total_header").report(`lists of ${upstream} have no total`);
}

const LINKS = ["next_link", "previous_link", "first_link", "last_link"];

const NEXT = ["next_cursor", "next_link"];

/** Reports contradictions in the client's pagination and list, independent of the upstream. */
function reportClientPages(sides: Sides, { client: at }: Places): void {
  const { style, size, names, client } = sides;
  if (client?.links === "absolute" && linkRelations(client).length === 0 && !hasAny(names.client, LINKS))
    at.at("links").report({
      message: "lists of clients have no links",
      hint: 'add $next_link to their list, or "link_header: true"',
    });
  if (client?.range_header && style?.kind === "cursor")
    at.at("range_header").report({
      message: "pages between cursors have no positions",
      hint: 'a range needs "pagination" with "page" or "offset"',
    });
  if (size.default > size.maximum)
    at.at("size", "default").report(`the default ${size.default} is larger than the maximum ${size.maximum}`);
  const learnsNext = hasLink(client, "next") || hasAny(names.client, NEXT);
  if (style?.kind === "cursor" && clientCursor(sides) !== "item" && !learnsNext)
    at.at("cursor").report({
      message: "clients do not learn the next cursor",
      hint: 'add $next_cursor or $next_link to their list, "link_header: true", or "item": the member that the cursor is',
    });
}

/** Reports the page before a cursor that clients can't ask for, or do not learn. */
function reportPrevious(sides: Sides, { name: upstream }: Upstream, at: Places): void {
  const { style, names, client } = sides;
  if (style?.kind !== "cursor") return;
  const { before, item } = style;
  const place = before === undefined ? at.list : at.client.at("cursor", "before");
  const isShown = hasAny(names.client, PREVIOUS);
  if ((before !== undefined || isShown) && clientCursor(sides) === "upstream" && !canGoBack(sides))
    place.report({
      message: `lists of ${upstream} have no cursors of the page before that fit the client's pages`,
      hint:
        before === undefined
          ? "add $previous_cursor to the upstream's list, or remove it here"
          : `remove it, and reject the parameter: query: { parameters: { "${before}": { reject: NAME_OF_A_MESSAGE } } }`,
    });
  if (before !== undefined && item === undefined && !isShown && !hasLink(client, "prev"))
    place.report({
      message: "clients do not learn the cursor of the page before",
      hint: 'add $previous_cursor or $previous_link to their list, or "link_header: true"',
    });
  if (before === style.parameter) place.report('"before" is the same parameter as "parameter"');
  if (before === undefined && item !== undefined && isShown)
    at.list.report('the page before an item needs a parameter of its own: "before" in "cursor"');
}

/** Reports an upstream that has pages before a cursor, and does not say whether one precedes. */
function reportUpstreamPrevious({ pages, names }: Sides, { upstream: at }: Places): void {
  const { style, linkHeader } = pages;
  if (style?.kind !== "cursor" || style.before === undefined) return;
  const values = style.item === undefined ? PREVIOUS : [...PREVIOUS, "has_more"];
  if (!linkHeader && !hasAny(names.upstream, values))
    at.at("cursor", "before").report({
      message: "the gateway does not learn whether a page precedes",
      hint: `add $previous_cursor, $previous_link${style.item === undefined ? "" : " or $has_more"} to the upstream's list, or "link_header: true"`,
    });
}

/** Reports pages that need too many requests. */
function reportRequests({ size, pages, client }: Sides, upstream: Upstream, at: Places): void {
  const { maximum } = pages.size;
  if (Math.ceil((upstream.pagination?.max_items ?? 0) / maximum) > MAX_REQUESTS)
    at.upstream
      .at("max_items")
      .report(`needs more than ${MAX_REQUESTS} requests with pages of ${maximum} items`);
  if (client && size.maximum > MAX_REQUESTS * maximum)
    at.client
      .at("size")
      .report(`a page of ${size.maximum} items needs more than ${MAX_REQUESTS} requests to ${upstream.name}`);
}

/** Reports cursors of the upstream that the gateway does not learn, or that are not between the client's pages. */
function reportUpstreamCursors(sides: Sides, { name: upstream }: Upstream, at: Places): void {
  const { style, pages, names } = sides;
  if (pages.style?.kind !== "cursor" || pages.style.item !== undefined) return;
  if (!pages.linkHeader && !hasAny(names.upstream, NEXT))
    at.upstream.at("cursor").report({
      message: "the gateway does not learn the next cursor",
      hint: 'add $next_cursor or $next_link to the upstream\'s list, "link_header: true", or "item": the member that the cursor is. A list without pages has "pagination: none"',
    });
  const { maximum, parameter } = pages.size;
  if (style && clientCursor(sides) === "upstream" && parameter === undefined && !isMultiple(sides))
    at.client
      .at("size")
      .report(
        `pages of ${upstream} have ${maximum} items, and its cursors are between them: the size must be fixed, and a multiple of ${maximum}`,
      );
}
