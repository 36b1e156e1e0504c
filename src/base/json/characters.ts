/** Code units of JSON's grammar (RFC 8259). All are ASCII, so they are also its bytes in UTF-8. */
export const quote = 0x22;
export const plus = 0x2b;
export const comma = 0x2c;
export const minus = 0x2d;
export const point = 0x2e;
export const zero = 0x30;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const letterA = 0x61;
export const letterE = 0x65;
export const letterF = 0x66;
export const letterU = 0x75;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const space = 0x20;
/** The bit that makes an ASCII letter lower case. */
export const lowerCase = 0x20;

/** With literals, since V8 does not fold exported constants. */
export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Maximum nesting of arrays and objects: far more than either dialect uses, and far less than recursion allows. */
export const MAX_DEPTH = 100;
