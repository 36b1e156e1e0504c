/**
 * An address without its user, password and parameters, for problems and logs. In an invalid address, parts that may
 * be secret are removed too.
 */
export function redactAddress(text: string): string {
  const [, scheme = "", rest = ""] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(text) ?? [];
  const [, before = "", parameters = ""] = /^([^?#]*)(.*)$/s.exec(rest) ?? [];
  // A password may have a question mark.
  if (parameters.includes("@")) return `${scheme}***`;
  return `${scheme}${before.replace(/^.*@/s, "***@")}${parameters && `${parameters.slice(0, 1)}***`}`;
}

/** Redacts all addresses in a text. */
export const redactAddresses = (text: string): string =>
  text.replaceAll(/[a-z][a-z\d+.-]{0,30}:\/\/[^\s,"]*/gi, redactAddress);
