/** Reasons of bodies that are rejected for what no record has: their media type, their encoding, and how they ended. */

/** A body that ended early, or has an encoding that the gateway does not read. */
export const UNREADABLE_BODY = "The body could not be read.";

/** A body of another media type. @param names of the media types that are accepted */
export const wrongMediaType = (names: readonly string[]): string =>
  `The body must be ${names.join(" or ")} in UTF-8.`;
