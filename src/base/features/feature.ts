/** An operator feature, such as the plan or the notices: a file, state that replicas share, a status and actions. */
import type { z } from "zod";
import type { Block, Button } from "../blocks/block.ts";
import type { SettingName, Settings } from "../settings/setting-definitions.ts";
import type { FeatureAction } from "./feature-action.ts";
import type { FeatureCommands } from "./feature-command.ts";
import type { FeatureHost } from "./feature-host.ts";

/** The page of a feature in the console. */
interface FeaturePage {
  /** The address of the page: `plan` for `#/plan`. */
  readonly address: string;
  readonly title: string;
  /** Title and text for the page if the settings don't turn the feature on. */
  readonly absent?: readonly [title: string, text: string];
}

/** The form on a page. It sends an action with the name of the operator and a reason. */
export interface ActionForm {
  readonly label: string;
  /** Maximum length of a reason in characters. */
  readonly longestReason: number;
  /** Values that the operator chooses, by their names in the action. */
  readonly choice?: {
    readonly label: string;
    readonly name: string;
    readonly options: readonly (readonly [value: string, text: string])[];
  };
  readonly button: Button;
}

/** The name of a feature in the admin API and in commands. */
export interface FeatureIdentity {
  readonly name: string;
  /** The member of `GET /api/NAME` that contains the status. Undefined if the status is not in that response. */
  readonly member?: string;
  /** The setting that turns the feature on. */
  readonly setting: SettingName;
  /** The form of the file that the setting names. Undefined if the setting does not name a file. */
  readonly schema?: z.ZodType;
  /** Whether a check of the file opens the client directory, or the state store, in addition to the pack. */
  readonly checksWith?: { readonly clients?: true; readonly state?: true };
  /** The feature's page of the console, if it has one. */
  readonly page?: FeaturePage;
  /** The actions that people can do. */
  readonly actions?: readonly FeatureAction<FeatureParts>[];
}

/** The members of an open feature for the code of a gateway that iterates over all features. All are optional. */
export interface FeatureParts<Pack = never> {
  /** Summarizes the content of the file: `3 stages`. */
  summary?(): string;
  /** Returns the result of `GET /api/NAME`. @param query has the form of `parameters` */
  status?(query: unknown): unknown;
  /** Returns the status for people, for the command and for the page of the console. */
  describe?(): readonly Block[] | Promise<readonly Block[]>;
  /** Returns the form for the page of the console. */
  form?(): ActionForm;
  /** Form of the query parameters of `GET /api/NAME`. Default: no parameters. */
  readonly parameters?: z.ZodObject;
  /** Whether the console shows a page for the feature. Default: true. */
  readonly isShown?: boolean;
  readonly items?: {
    /** The name of one resource, such as `example`. */
    readonly name: string;
    /** Returns the response of `GET /api/NAME/ID`; undefined if nothing has this id. */
    read(id: string): Promise<unknown>;
  };
  /** Returns the names in the feature's file that are missing in a pack. If there are any, the pack is rejected. */
  missingNames?(next: Pack): readonly string[];
  /** Sets the pack that the file is checked with from now on. */
  usePack?(pack: Pack): void;
  /** Reads the feature's files again. Never throws. */
  reload?(): void;
  /** Called after the pack was read again, whether or not it has changed. Never rejects. */
  afterPackReload?(): Promise<void>;
  /** Called when a shutdown starts, while requests are still in flight. Never rejects. */
  stop?(): Promise<void>;
  close?(): unknown;
}

/**
 * An operator feature. Opening it reads its files and its shared state.
 *
 * @template Needs The parts of the gateway that the feature uses
 * @template Parts The interface of the open feature; undefined if the settings do not turn it on
 */
export interface Feature<Needs, Parts> extends FeatureIdentity {
  readonly actions?: readonly FeatureAction<NonNullable<Parts>>[];
  readonly commands?: FeatureCommands<Needs, NonNullable<Parts>>;
  /**
   * Opens the feature. The host ends its reads and its repeated work.
   *
   * @throws {OperatorFileError} if its file is invalid
   */
  open(settings: Settings, needs: Needs, host: FeatureHost): Parts | Promise<Parts>;
}
