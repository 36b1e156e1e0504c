/** Changes of one letter (in, out, other, or two swapped) that lead from one word to the other, after Damerau. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row += 1) {
    const made = [row];
    rows.push(made);
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      made.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + same,
          swapped ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(from.length, to.length);
}

/** Longer words are no slips of the pen, and comparing them costs their lengths multiplied. */
const LONGEST = 60;

/** The name that someone who wrote this one may have meant; undefined where none is near. */
export function closestMatch(name: string, among: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(name.length / 3));
  const [best] = [...among]
    .filter((each) => Math.abs(each.length - name.length) <= most && each.length <= LONGEST)
    .map((each) => ({ each, far: distance(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far);
  return best?.each;
}

/** A hint is a line or two. */
const [FEW_NAMES, MOST_NAMES] = [10, 24];

/** "did you mean …?" where a name is near, and which names there are. */
export function suggestionFor(name: string, among: readonly string[]): string {
  const near = closestMatch(name, among);
  if (near !== undefined && among.length > FEW_NAMES) return `did you mean "${near}"?`;
  const more = among.length > MOST_NAMES ? `, and ${among.length - MOST_NAMES} more` : "";
  const all = `there are: ${among.slice(0, MOST_NAMES).join(", ") || "none"}${more}`;
  return near === undefined ? all : `did you mean "${near}"? ${all}`;
}
