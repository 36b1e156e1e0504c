/** Stage 3 of loading a pack: replaces the words of the pack with those of the service. */
import {
  createRenamer,
  type ProductWords,
  renameDeep,
  scopeRenaming,
  type ScopeRenaming,
} from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { ValidatedFile, ValidatedPack } from "./validate-pack.ts";

/** Whether the service uses different words than the pack. */
export const isRenaming = (words: ProductWords): boolean =>
  Object.entries(words).some(([from, to]) => from !== to);

/** Stage 3. Renames the product words of a pack, and the scope words in scopes and event actions. */
export function renameWords(pack: ValidatedPack, words: ProductWords): ValidatedPack {
  if (!isRenaming(words)) return pack;
  const { dialect, surface, accepted, resources, removed } = pack;
  const scopeWords = dialect?.definition.scope_words ?? [];
  const rename = createRenamer(words, scopeWords);
  const scopes = scopeRenaming(words, scopeWords);
  const renameFile = <T extends ValidatedFile<unknown>>(file: T, definition: T["definition"]): T => ({
    ...file,
    definition: renameDeep(definition, rename),
  });
  return {
    removed,
    dialect: dialect && renameFile(dialect, renameScopes(dialect.definition, scopes)),
    surface: surface && renameFile(surface, surface.definition),
    accepted: accepted && renameFile(accepted, accepted.definition),
    resources: resources.map((file) => renameFile(file, renameRouteScopes(file.definition, scopes))),
  };
}

/** Renames scope words in `scopes` and in value tables. */
function renameScopes(definition: DialectDefinition, rename: ScopeRenaming): DialectDefinition {
  const renameTable = <T>(words: T): T =>
    typeof words === "string" ? words : renameDeep(words, rename.actions);
  const values = Object.entries(definition.values).map(([name, { same, read, write, ...kind }]) => {
    const words = { ...(same && { same }), ...(read && { read }), ...(write && { write }) };
    const renamed = Object.entries(words).map(([key, value]) => [key, renameTable(value)] as const);
    return [name, { ...kind, ...Object.fromEntries(renamed) }] as const;
  });
  return {
    ...definition,
    scopes: renameDeep(definition.scopes, rename.scopes),
    values: Object.fromEntries(values),
  };
}

/** Renames scope words in the scopes and conditions of routes. */
function renameRouteScopes(definition: ResourceDefinition, rename: ScopeRenaming): ResourceDefinition {
  if (!definition.routes) return definition;
  const routes = definition.routes.map((route) => ({
    ...route,
    ...(route.scope !== undefined && { scope: rename.scopes(route.scope) }),
    ...(route.where && { where: renameDeep(route.where, rename.actions) }),
  }));
  return { ...definition, routes };
}
