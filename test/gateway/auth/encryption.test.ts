import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createEncryptor } from "../../../src/gateway/auth/gateway-secret.ts";

const encryptor = createEncryptor("a secret");

describe("encrypted data", () => {
  test("is decrypted under its name, and has another ciphertext each time", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, about) => {
        expect(encryptor.decrypt(encryptor.encrypt(text, about), about)).toBe(text);
        expect(encryptor.encrypt(text, about)).not.toBe(encryptor.encrypt(text, about));
      }),
    );
  });

  test("is not decrypted under another name, or with another secret", () => {
    const encrypted = encryptor.encrypt("text", "one");
    expect(encryptor.decrypt(encrypted, "two")).toBeUndefined();
    expect(createEncryptor("another secret").decrypt(encrypted, "one")).toBeUndefined();
  });

  test("is not decrypted after a byte was changed or cut off", () => {
    const bytes = Buffer.from(encryptor.encrypt("text", "one"), "base64url");
    for (let n = 0; n < bytes.length; n += 1) {
      const changed = Buffer.from(bytes);
      changed[n] = (changed[n] ?? 0) ^ 1;
      expect(encryptor.decrypt(changed.toString("base64url"), "one")).toBeUndefined();
      expect(encryptor.decrypt(bytes.subarray(0, n).toString("base64url"), "one")).toBeUndefined();
    }
  });
});
