/** The homes of rows: an account, a parent row, a user, or everyone. */

/** The home of rows that everyone may read: catalogs, public images and scripts. */
export const publicHome = "everyone";

/** Returns the home of the children of a row. */
export function childHome(name: string, id: number | string): string {
  return `${name}/${id}`;
}

/** Returns the home of the rows of a user. */
export function userHome(user: string): string {
  return childHome("user", user);
}

/** Returns the id of the parent row from the home of its child. */
export function parentId(home: string): number {
  return Number(home.slice(home.indexOf("/") + 1));
}
