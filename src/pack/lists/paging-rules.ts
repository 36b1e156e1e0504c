/** Reports pages that the gateway can't request, and values of pages that can't be determined. */
import { LIST_VALUES } from "./page-values.ts";
import type { PagingStyle } from "./styles.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import { hasAny, MAX_REQUESTS, PREVIOUS, TOTALS, type Sides } from "./paging-sides.ts";

type Upstream = DialectDefinition["upstream"];

/** The locations of both paginations, and of the client's list. */
interface Places {
  readonly client: SourceLocation;
  readonly upstream: SourceLocation;
  readonly list: SourceLocation;
}

/** Reports values that the gateway can't determine or request. */
export function reportPaging(sides: Sides, upstream: Upstream, location: SourceLocation): void {
  const at: Places = {
    client: location.at("client", "pagination"),
    upstream: location.at("upstream", "pagination"),
    list: location.at("client", "responses", "list"),
  };
  reportValues(sides, upstream, at);
  reportClientPages(sides, at.client);
  reportPrevious(sides, upstream, at);
  if (sides.pages.style) reportUpstreamPages(sides, upstream, at);
}

const COUNTED: readonly PagingStyle["kind"][] = ["page", "offset"];

/** Values that only exist for some styles. */
const STYLES_OF: Readonly<Record<string, readonly PagingStyle["kind"][]>> = {
  page: COUNTED,
  pages: COUNTED,
  offset: COUNTED,
  next_page: ["page"],
  previous_page: ["page"],
  next_offset: ["offset"],
  next_cursor: ["cursor"],
  previous_cursor: ["cursor"],
  last_link: ["page"],
};

/** Reports values in the client's lists that do not exist for its pages, and totals that the upstream does not return. */
function reportValues(sides: Sides, { name: upstream }: Upstream, at: Places): void {
  const { style, pages, names, client, isDirect } = sides;
  if (!style) return;
  for (const name of LIST_VALUES.filter((each) => names.client.has(each))) {
    const { [name]: kinds = [style.kind] } = STYLES_OF;
    if (!kinds.includes(style.kind))
      at.list.report(`"$${name}" needs "pagination" with ${kinds.map((kind) => `"${kind}"`).join(" or ")}`);
  }
  if (names.upstream.has("total") || pages.totalHeader !== undefined || !pages.style) return;
  const needsTotal = TOTALS.find((name) => names.client.has(name));
  if (needsTotal !== undefined && !isDirect)
    at.list.report({
      message: `"$${needsTotal}" has no value: lists of ${upstream} have no total`,
      hint: "add $total to the upstream's list, or total_header to its pagination",
    });
  if (client?.total_header !== undefined)
    at.client.at("total_header").report(`lists of ${upstream} have no total`);
}

const LINKS = ["next_link", "previous_link", "first_link", "last_link"];

const NEXT = ["next_cursor", "next_link"];

/** Reports contradictions in the client's pagination and list, independent of the upstream. */
function reportClientPages(sides: Sides, at: SourceLocation): void {
  const { style, size, names, client, cursor, relations, linksTo } = sides;
  if (client?.links === "absolute" && relations.length === 0 && !hasAny(names.client, LINKS))
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
  if (style?.kind === "cursor" && cursor !== "item" && !linksTo("next") && !hasAny(names.client, NEXT))
    at.at("cursor").report({
      message: "clients do not learn the next cursor",
      hint: 'add $next_cursor or $next_link to their list, "link_header: true", or "item": the member that the cursor is',
    });
}

/** Reports a previous page that clients can't request, or whose cursor they do not receive. */
function reportPrevious(sides: Sides, { name: upstream }: Upstream, at: Places): void {
  const { style, names, cursor, upstreamGoesBack, linksTo } = sides;
  if (style?.kind !== "cursor") return;
  const { before, item } = style;
  const isShown = hasAny(names.client, PREVIOUS);
  if (before === undefined) {
    if (isShown && cursor === "upstream" && !upstreamGoesBack)
      at.list.report({
        message: `lists of ${upstream} have no cursors of the page before that fit the client's pages`,
        hint: "add $previous_cursor to the upstream's list, or remove it here",
      });
    if (isShown && item !== undefined)
      at.list.report('the page before an item needs a parameter of its own: "before" in "cursor"');
    return;
  }
  const place = at.client.at("cursor", "before");
  if (cursor === "upstream" && !upstreamGoesBack)
    place.report({
      message: `lists of ${upstream} have no cursors of the page before that fit the client's pages`,
      hint: `remove it, and reject the parameter: query: { parameters: { "${before}": { reject: NAME_OF_A_MESSAGE } } }`,
    });
  if (item === undefined && !isShown && !linksTo("prev"))
    place.report({
      message: "clients do not learn the cursor of the page before",
      hint: 'add $previous_cursor or $previous_link to their list, or "link_header: true"',
    });
  if (before === style.parameter) place.report('"before" is the same parameter as "parameter"');
}

/** Reports pages that need too many requests, and cursors that the gateway does not receive or can't use. */
function reportUpstreamPages(sides: Sides, { name: upstream, pagination }: Upstream, at: Places): void {
  const { style, size, client, cursor, isMultiple, pages, names } = sides;
  const { maximum, parameter } = pages.size;
  if (Math.ceil((pagination?.max_items ?? 0) / maximum) > MAX_REQUESTS)
    at.upstream
      .at("max_items")
      .report(`needs more than ${MAX_REQUESTS} requests with pages of ${maximum} items`);
  if (client && size.maximum > MAX_REQUESTS * maximum)
    at.client
      .at("size")
      .report(`a page of ${size.maximum} items needs more than ${MAX_REQUESTS} requests to ${upstream}`);
  if (pages.style?.kind !== "cursor") return;
  const { item, before } = pages.style;
  const isOpaque = item === undefined;
  const previous = isOpaque ? PREVIOUS : [...PREVIOUS, "has_more"];
  if (before !== undefined && !pages.linkHeader && !hasAny(names.upstream, previous))
    at.upstream.at("cursor", "before").report({
      message: "the gateway does not learn whether a page precedes",
      hint: `add $previous_cursor, $previous_link${isOpaque ? "" : " or $has_more"} to the upstream's list, or "link_header: true"`,
    });
  if (!isOpaque) return;
  if (!pages.linkHeader && !hasAny(names.upstream, NEXT))
    at.upstream.at("cursor").report({
      message: "the gateway does not learn the next cursor",
      hint: 'add $next_cursor or $next_link to the upstream\'s list, "link_header: true", or "item": the member that the cursor is. A list without pages has "pagination: none"',
    });
  if (style && cursor === "upstream" && parameter === undefined && !isMultiple)
    at.client
      .at("size")
      .report(
        `pages of ${upstream} have ${maximum} items, and its cursors are between them: the size must be fixed, and a multiple of ${maximum}`,
      );
}
