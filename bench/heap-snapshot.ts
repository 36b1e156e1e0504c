import { readFile } from "node:fs/promises";

/** Bytes and number of objects of each kind: a type, and of objects the name of their constructor. */
export type Heap = ReadonlyMap<string, { readonly bytes: number; readonly count: number }>;

export interface Growth {
  /** Bytes of all objects. */
  readonly before: number;
  readonly after: number;
  /** Those that grew most. */
  readonly kinds: readonly { readonly name: string; readonly bytes: number; readonly count: number }[];
}

interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly unknown[] };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Node types grouped by name. The names of strings and code are their contents, which differ each time. */
const NAMED = new Set(["object", "closure", "native"]);
const SHOWN = 12;

/** Reads V8's heap snapshot; undefined while it is still being written. */
export async function readSnapshot(file: string): Promise<Heap | undefined> {
  let parsed: Snapshot;
  try {
    parsed = JSON.parse(await readFile(file, "utf8")) as Snapshot;
  } catch {
    return undefined;
  }
  const { nodes, strings, snapshot } = parsed;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ["type", "name", "self_size"].map((field) => fields.indexOf(field));
  const typeNames = types[0] as readonly string[];
  const heap = new Map<string, { bytes: number; count: number }>();
  for (let node = 0; node < nodes.length; node += fields.length) {
    const at = (offset = 0): number => nodes[node + offset] ?? 0;
    const kind = typeNames[at(type)] ?? "";
    const key = NAMED.has(kind) ? `${kind} ${strings[at(name)]?.slice(0, 60)}` : kind;
    const sum = heap.get(key) ?? { bytes: 0, count: 0 };
    heap.set(key, { bytes: sum.bytes + at(size), count: sum.count + 1 });
  }
  return heap;
}

const total = (heap: Heap): number => [...heap.values()].reduce((sum, { bytes }) => sum + bytes, 0);

export function growthBetween(before: Heap, after: Heap): Growth {
  const kinds = [...after]
    .map(([name, { bytes, count }]) => {
      const was = before.get(name) ?? { bytes: 0, count: 0 };
      return { name, bytes: bytes - was.bytes, count: count - was.count };
    })
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, SHOWN);
  return { before: total(before), after: total(after), kinds };
}
