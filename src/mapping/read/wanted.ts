/** A place in a v4 object that fields are made from, in a tree of members. */
export interface Wanted {
  /** The variable that holds the text of what stands here; undefined where only members of it are wanted. */
  variable: string | undefined;
  readonly members: Map<string, Wanted>;
}

const newPlace = (): Wanted => ({ variable: undefined, members: new Map() });

/** Gives every place one variable, however many fields are made from it. */
export interface WantedPlaces {
  readonly root: Wanted;
  /** The variables, in the order in which they were asked for. */
  readonly variables: readonly string[];
  /** The variable of a place, by the names on the way to it. */
  variable(path: readonly string[]): string;
}

export function wantedPlaces(): WantedPlaces {
  const root = newPlace();
  const variables: string[] = [];
  return {
    root,
    variables,
    variable(path) {
      let place = root;
      for (const name of path) {
        const next = place.members.get(name) ?? newPlace();
        place.members.set(name, next);
        place = next;
      }
      if (place.variable === undefined) {
        place.variable = `v${variables.length}`;
        variables.push(place.variable);
      }
      return place.variable;
    },
  };
}
