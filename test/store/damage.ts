import fs from "node:fs";
import Database from "better-sqlite3";

/** Overwrites a share of a table's leaf pages, as a bad disk would; `from` and `to` are 0..1 in key order. */
export function damage(file: string, table: string, from: number, to: number): void {
  const db = new Database(file, { readonly: true });
  const pages = db
    .prepare<[string], number>("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .pluck()
    .all(table);
  const pageBytes = db.pragma("page_size", { simple: true }) as number;
  db.close();
  const fd = fs.openSync(file, "r+");
  for (const page of pages.slice(Math.floor(pages.length * from), Math.ceil(pages.length * to))) {
    fs.writeSync(fd, Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, (page - 1) * pageBytes);
  }
  fs.closeSync(fd);
}
