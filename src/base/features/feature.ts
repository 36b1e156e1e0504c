/** An operator feature, such as the plan or the notices: a file, state that replicas share, a status and actions. */
import type { z } from "zod";
import type { Block, Button } from "../blocks/block.ts";
import type { SettingName, Settings } from "../settings/setting-definitions.ts";
import type { FeatureAction } from "./feature-action.ts";
import type { FeatureCommands } from "./feature-command.ts";
import type { FeatureHost } from "./feature-host.ts";

/** The page of a feature in the console. */
interface FeaturePage {
  /** `plan`: the page is at `#/plan`. */
  readonly address: string;
  readonly title: string;
  /** Title and text where the settings don't turn the feature on. */
  readonly absent?: readonly [title: string, text: string];
}

/** The form of a page, which sends an action with the name of the operator and a reason. */
export interface ActionForm {
  readonly label: string;
  /** Characters. */
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
  /** The member of `GET /api/NAME` that contains its status. Undefined: it has none there. */
  readonly member?: string;
  /** The setting that turns it on. */
  readonly setting: SettingName;
  /** The form of the file that the setting names; undefined: it names another thing. */
  readonly schema?: z.ZodType;
  /** Whether a check of the file opens the client directory, or the state store, in addition to the pack. */
  readonly checksWith?: { readonly clients?: true; readonly state?: true };
  /** Undefined: the console has none. */
  readonly page?: FeaturePage;
  /** The actions of people. */
  readonly actions?: readonly FeatureAction<FeatureParts>[];
}

/** The members of a feature for the parts of a gateway that iterate over all features. All of it is optional. */
export interface FeatureParts<Pack = never> {
  /** The content of its file, in few words: `3 stages`. */
  summary?(): string;
  /** The result of `GET /api/NAME`. @param query Of the form of `parameters` */
  status?(query: unknown): unknown;
  /** The status for people, in its command and its page of the console. */
  describe?(): readonly Block[] | Promise<readonly Block[]>;
  /** The form of its page in the console. */
  form?(): ActionForm;
  /** Form of the query parameters of `GET /api/NAME`. Default: it has none. */
  readonly parameters?: z.ZodObject;
  /** Whether the console has a page of it. Default: it has. */
  readonly isShown?: boolean;
  readonly items?: {
    /** The name of one of them: `example`. */
    readonly name: string;
    /** The response of `GET /api/NAME/ID`; undefined if nothing has this id. */
    read(id: string): Promise<unknown>;
  };
  /** The names in its file that a pack does not have. A pack that lacks any is rejected. */
  missingNames?(next: Pack): readonly string[];
  /** From now on the file is checked with this pack. */
  usePack?(pack: Pack): void;
  /** Reads its files again. Never throws. */
  reload?(): void;
  /** Called when a shutdown begins, while requests still end. Never rejects. */
  stop?(): Promise<void>;
  close?(): unknown;
}

/**
 * An operator feature. Opening it reads its files and its shared state.
 *
 * @template Needs What it asks of others
 * @template Parts What others need of it; undefined where the settings do not turn it on
 */
export interface Feature<Needs, Parts> extends FeatureIdentity {
  readonly actions?: readonly FeatureAction<NonNullable<Parts>>[];
  readonly commands?: FeatureCommands<Needs, NonNullable<Parts>>;
  /**
   * Opens it. The host ends its reads and repeated work.
   *
   * @throws {OperatorFileError} If its file is invalid.
   */
  open(settings: Settings, needs: Needs, host: FeatureHost): Parts | Promise<Parts>;
}
