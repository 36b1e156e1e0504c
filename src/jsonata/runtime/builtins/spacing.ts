/** The greatest distance that all separators are a multiple of, if none is left out. */
export function regularDistance(places: readonly number[]): number {
  const divisor = (one: number, other: number): number => (other === 0 ? one : divisor(other, one % other));
  if (places.length === 0) return 0;
  const distance = places.reduce((one, other) => divisor(one, other));
  return places.every((_, index) => places.includes((index + 1) * distance)) ? distance : 0;
}
