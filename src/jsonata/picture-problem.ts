// Pictures of `$toMillis`. JSONata turns a picture into a regular expression. Its run time is unbounded if two parts
// can match the same characters. So a picture must be a literal, and the end of each part must be unambiguous.

/** A part of a picture, `[Y0001]`, and the text after it. */
const PICTURE_PART = /\[\s*([A-Za-z])([^\],]*)[^\]]*\]([^[]*)/g;

/** Components that are numbers. Their width is fixed if another number follows directly and the picture has digits. */
const NUMBER_COMPONENTS = "YMDdHhmsWwXx";

/** Describes the problem of a picture of `$toMillis`; returns undefined if missing. */
export function describePictureProblem(picture: string): string | undefined {
  const parts = [...picture.matchAll(PICTURE_PART)];
  for (const [index, [, component = "", modifierText = "", following = ""]] of parts.entries()) {
    const modifier = modifierText.trim();
    const isName =
      component === "F" || component === "P" ? !/^\d/.test(modifier) : /^[AaIiNn]/.test(modifier);
    // JSONata compares the month with names in title case.
    if (component === "M" && /^(?:N(?!\s*n)|n)/.test(modifier))
      return `$toMillis reads every month in [${component}${modifier}] as January: write [MNn], and change the case of the text`;
    if (/^[Ww]/.test(modifier)) return "$toMillis can't read numbers in words here";
    if (following === "" && index < parts.length - 1) {
      const next = parts[index + 1]?.[1] ?? "";
      // A time zone begins with a sign, or with GMT.
      if (next === "Z" || (next === "z" && !isName)) continue;
      const isNumber =
        !isName && NUMBER_COMPONENTS.includes(component) && (modifier === "" || /\d/.test(modifier));
      if (isNumber && NUMBER_COMPONENTS.includes(next)) continue;
      return `the end of [${component}${modifier}] is ambiguous: write a character after it`;
    }
    if ((isName ? /^[A-Za-z]/ : /^\d/).test(following))
      return `the end of [${component}${modifier}] is ambiguous: write another character after it`;
  }
  return undefined;
}
