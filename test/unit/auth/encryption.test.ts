import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { createEncryptor } from "../../../src/auth/encryption.ts";

const seal = createEncryptor("a secret");

describe("encrypted data", () => {
  test("is decrypted under its name, and has another ciphertext each time", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, about) => {
        expect(seal.decrypt(seal.encrypt(text, about), about)).toBe(text);
        expect(seal.encrypt(text, about)).not.toBe(seal.encrypt(text, about));
      }),
    );
  });

  test("is not decrypted under another name, or with another secret", () => {
    const sealed = seal.encrypt("text", "one");
    expect(seal.decrypt(sealed, "two")).toBeUndefined();
    expect(createEncryptor("another secret").decrypt(sealed, "one")).toBeUndefined();
  });

  test("is not decrypted after a byte was changed or cut off", () => {
    const bytes = Buffer.from(seal.encrypt("text", "one"), "base64url");
    for (let n = 0; n < bytes.length; n += 1) {
      const changed = Buffer.from(bytes);
      changed[n] = (changed[n] ?? 0) ^ 1;
      expect(seal.decrypt(changed.toString("base64url"), "one")).toBeUndefined();
      expect(seal.decrypt(bytes.subarray(0, n).toString("base64url"), "one")).toBeUndefined();
    }
  });
});
