import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts what is stored outside of this process. */
export interface Encryptor {
  /** @param name Bound to the text as additional data: the result can't be decrypted under another name. */
  encrypt(text: string, name: string): string;
  /** @returns undefined if the text was not encrypted with this secret and name, or was changed. */
  decrypt(encrypted: string, name: string): string | undefined;
}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Creates an encryptor (AES-256-GCM) whose key is derived from the secret. */
export function createEncryptor(secret: string): Encryptor {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "alpha-gateway: stored grants", 32));
  return {
    encrypt(text, name) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(name));
      const parts = [iv, cipher.update(text, "utf8"), cipher.final()];
      return Buffer.concat([...parts, cipher.getAuthTag()]).toString("base64url");
    },
    decrypt(encrypted, name) {
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
