import type { DialectDefinition } from "../../mapping/schema/definition.ts";
import type { Difference } from "./model.ts";

const names = (all: readonly string[]): string => all.join(", ");

function operators({ filter }: DialectDefinition): Difference[] {
  const differing = Object.entries(filter.operators).flatMap(([alpha, { v4 = alpha, also = [] }]) => {
    const others = [alpha, ...also].filter((spelling) => spelling !== v4);
    return others.length === 0 ? [] : [{ alpha: names(others), v4 }];
  });
  if (differing.length === 0) return [];
  return [
    {
      what: `Operators in ${filter.header}`,
      alpha: names(differing.map(({ alpha }) => alpha)),
      v4: names(differing.map(({ v4 }) => v4)),
    },
  ];
}

/** What differs in every call, whatever it asks for. */
export function commonChanges(dialect: DialectDefinition): readonly Difference[] {
  const { alpha, v4, statuses, page } = dialect;
  const { rate_limited: limited, same, other, other_4xx: refused } = statuses;
  return [
    { what: "Credentials", alpha: `Authorization: ${alpha.scheme} …`, v4: `Authorization: ${v4.scheme} …` },
    { what: "Rows of a list", alpha: "under the list's own name", v4: `under ${v4.envelope.items}, always` },
    {
      what: "Counts of a list",
      alpha: names([alpha.envelope.page, alpha.envelope.pages, alpha.envelope.results]),
      v4: names([v4.envelope.page, v4.envelope.pages, v4.envelope.results]),
    },
    {
      what: "Size of a page",
      alpha: `${alpha.page_size}, fixed; ?${page}=N`,
      v4: `?${page}=N&${v4.page_size.parameter}=M, ${v4.page_size.largest} at most`,
    },
    ...operators(dialect),
    {
      what: "Too many requests",
      alpha: `${limited.alpha} ${limited.phrase}`,
      v4: `${limited.v4}; Retry-After says when to ask again`,
    },
    {
      what: "Statuses",
      alpha: `200, ${names([refused, ...same, limited.alpha, other].toSorted((one, next) => one - next).map(String))} and no other`,
      v4: "any of HTTP's: take all of 200 to 299 for success",
    },
    {
      what: "Fields in errors",
      alpha: "alpha's names",
      v4: "v4's names, as they stand in these tables",
    },
    {
      what: `Clients that sent ${alpha.always_ok.request}`,
      alpha: `200 always, the true status in ${alpha.always_ok.answer}`,
      v4: "the true status, always",
    },
  ];
}
