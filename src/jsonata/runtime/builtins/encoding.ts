import { Buffer } from "node:buffer";
import { Failure } from "../failure.ts";

/** Built-in functions that encode strings. */
type Coding = (value?: string) => string | undefined;

/** Takes each character as one byte, as JSONata does. */
export const base64encode: Coding = (value) =>
  value === undefined ? undefined : Buffer.from(value, "binary").toString("base64");

export const base64decode: Coding = (value) =>
  value === undefined ? undefined : Buffer.from(value, "base64").toString("binary");

const wellFormed =
  (code: (value: string) => string): Coding =>
  (value) => {
    if (value === undefined) return undefined;
    try {
      return code(value);
    } catch {
      throw new Failure("D3140");
    }
  };

export const encodeUrlComponent: Coding = wellFormed(encodeURIComponent);
export const encodeUrl: Coding = wellFormed(encodeURI);
export const decodeUrlComponent: Coding = wellFormed(decodeURIComponent);
export const decodeUrl: Coding = wellFormed(decodeURI);
