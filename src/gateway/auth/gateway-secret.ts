/** The secret of a gateway, and its uses: tokens of the gateway, and encrypted records. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorText, makeFolder, type Settings, StateUnavailableError } from "../../base/index.ts";

const SECRET_FILE = "gateway.secret";

const BYTES = 32;
const OWNER_ONLY = 0o600;
const GROUP_AND_OTHERS = 0o077;

/** Matches a secret that the gateway created. Any other content comes from a different program, and may be known or guessed. */
const SECRET = /^[0-9a-f]{64}$/;

/** Writes a temporary file and links it, so that processes that start at the same time use the same secret. */
function createSecret(file: string): void {
  const temporary = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    writeFileSync(temporary, randomBytes(BYTES).toString("hex"), { flag: "wx", mode: OWNER_ONLY });
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Makes the file readable only by its owner, because volumes and copies set their own modes. */
function restrictToOwner(file: string): void {
  if ((statSync(file).mode & GROUP_AND_OTHERS) !== 0) chmodSync(file, OWNER_ONLY);
}

/**
 * Reads the secret that encrypts stored tokens: the setting, or a file in the data folder, which is created once.
 *
 * @throws {StateUnavailableError} If the file can't be read or created.
 */
export function readGatewaySecret({
  GATEWAY_SECRET,
  DATA_DIR,
}: Pick<Settings, "GATEWAY_SECRET" | "DATA_DIR">): string {
  if (GATEWAY_SECRET !== undefined) return GATEWAY_SECRET;
  const file = join(DATA_DIR, SECRET_FILE);
  try {
    makeFolder(DATA_DIR);
    if (!statSync(file, { throwIfNoEntry: false })) createSecret(file);
    restrictToOwner(file);
    const secret = readFileSync(file, "utf8").trim();
    if (!SECRET.test(secret)) throw new Error("the gateway did not write it");
    return secret;
  } catch (error) {
    throw new StateUnavailableError(
      `The secret ${file} can't be used: ${errorText(error)}. ` +
        "Set GATEWAY_SECRET, or remove the file (clients that signed in before have to do so again).",
    );
  }
}

/**
 * The gateway's own tokens, which clients get instead of v4's. The gateway recognizes them without the store, so that a
 * token whose record was lost is rejected instead of being treated as a v4 token.
 */
export type GatewayTokens = ReturnType<typeof createGatewayTokens>;

const HALF_BYTES = 16;
const FORM = /^[0-9a-f]{64}$/;

/** The prefix is at most a quarter of a token, so that the rest stays random. */
const PREFIX = /^[0-9a-f]{16}/;

/** Creates the tokens of a secret: 16 random bytes, and 16 bytes of an HMAC over them with a key derived for this use. */
export function createGatewayTokens(secret: string) {
  const key = createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", "alpha-gateway: own tokens", 32)));
  const codeOf = (random: Buffer): Buffer =>
    createHmac("sha256", key).update(random).digest().subarray(0, HALF_BYTES);
  return {
    /** Creates a token. @param prefix Its first characters, if they are hexadecimal. Default: random. */
    create(prefix = ""): string {
      const random = randomBytes(HALF_BYTES);
      random.write(PREFIX.exec(prefix)?.[0] ?? "", "hex");
      return Buffer.concat([random, codeOf(random)]).toString("hex");
    },
    /** Whether the gateway created a token. Takes constant time for any text in the form of a token. */
    isGatewayToken(token: string): boolean {
      if (!FORM.test(token)) return false;
      const bytes = Buffer.from(token, "hex");
      return timingSafeEqual(bytes.subarray(HALF_BYTES), codeOf(bytes.subarray(0, HALF_BYTES)));
    },
  };
}

/** Encrypts data that is stored outside of this process. */
export type Encryptor = ReturnType<typeof createEncryptor>;

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Creates an encryptor (AES-256-GCM) whose key is derived from the secret. */
export function createEncryptor(secret: string) {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "alpha-gateway: stored grants", 32));
  return {
    /** @param name Bound to the text as additional data: the result can't be decrypted under a different name. */
    encrypt(text: string, name: string): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(name));
      const parts = [iv, cipher.update(text, "utf8"), cipher.final()];
      return Buffer.concat([...parts, cipher.getAuthTag()]).toString("base64url");
    },
    /** @returns undefined if the text was not encrypted with this secret and name, or was changed. */
    decrypt(encrypted: string, name: string): string | undefined {
      try {
        const bytes = Buffer.from(encrypted, "base64url");
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(name))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        return (
          decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
        );
      } catch {
        return undefined;
      }
    },
  };
}
