/** A place in a v4 object that fields are made from, in a tree of members. */
export interface MemberNode {
  /** Where what stands here begins and ends; undefined where only members of it are wanted. */
  range: ByteRange | undefined;
  readonly members: Map<string, MemberNode>;
}

/** Names of two variables. The end of what is missing is 0. */
export interface ByteRange {
  readonly start: string;
  readonly end: string;
}

const newPlace = (): MemberNode => ({ range: undefined, members: new Map() });

/** Gives every place its variables, however many fields are made from it. */
export interface MemberPlan {
  readonly root: MemberNode;
  /** In the order in which they were asked for. */
  readonly ranges: readonly ByteRange[];
  /** Of a place, by the names on the way to it. */
  range(path: readonly string[]): ByteRange;
}

export function createMemberPlan(): MemberPlan {
  const root = newPlace();
  const ranges: ByteRange[] = [];
  return {
    root,
    ranges,
    range(path) {
      let place = root;
      for (const name of path) {
        const next = place.members.get(name) ?? newPlace();
        place.members.set(name, next);
        place = next;
      }
      if (place.range) return place.range;
      const range = { start: `s${ranges.length}`, end: `e${ranges.length}` };
      place.range = range;
      ranges.push(range);
      return range;
    },
  };
}
