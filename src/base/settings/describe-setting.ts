/** The properties that make a type of a value a setting: its meaning, its default, and whether it is secret. */
import { z } from "zod";
import { isAddressType } from "./setting-types.ts";

/** The description of a setting for people. */
export interface SettingDescription {
  /** Markdown, as in `docs/reference/settings.md`. */
  readonly meaning: string;
  /** The default as a user would type it. Undefined if the setting is unset. */
  readonly default?: string;
  /** Whether the value is secret: it is never printed. */
  readonly secret?: true;
  /** Whether the value is an address: only its user, password and parameters are secret. */
  readonly isAddress?: boolean;
}

/** The descriptions of all types that are settings. */
export const descriptions = z.registry<SettingDescription>();

function described<T extends z.ZodType>(type: T, description: SettingDescription): T {
  descriptions.add(type, description);
  return type;
}

/** Creates a setting with a default. @param text the default as a user would type it */
export const withDefault = <T extends z.ZodType<unknown, unknown>>(
  type: T,
  text: string & z.input<T>,
  meaning: string,
) => described(type.prefault(text), { meaning, default: text });

/** Creates a setting that is unset by default. */
export const unset = <T extends z.ZodType>(type: T, meaning: string) =>
  described(type.optional(), { meaning, isAddress: isAddressType(type) });

/** Creates an unset setting whose value is never printed. */
export const secret = <T extends z.ZodType>(type: T, meaning: string) =>
  described(type.optional(), { meaning, secret: true, isAddress: isAddressType(type) });
