import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts what is kept outside of this process. */
export interface Encryptor {
  /** @param about is bound to the text: sealed under one name, it can't be opened under another. */
  encrypt(text: string, about: string): string;
  /** Undefined for what was not sealed under this secret and name, or was changed since. */
  decrypt(sealed: string, about: string): string | undefined;
}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Makes a seal with a key of 256 bits that is derived from the secret. */
export function createEncryptor(secret: string): Encryptor {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "alpha-gateway: stored grants", 32));
  return {
    encrypt(text, about) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(about));
      const sealed = [iv, cipher.update(text, "utf8"), cipher.final()];
      return Buffer.concat([...sealed, cipher.getAuthTag()]).toString("base64url");
    },
    decrypt(sealed, about) {
      try {
        const bytes = Buffer.from(sealed, "base64url");
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(about))
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
