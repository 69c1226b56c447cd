import type Database from "better-sqlite3";

/**
 * From Node 24 on, a native object built on `node::ObjectWrap` ends the process with an assertion when the garbage collector frees it: its
 * destructor asks for the current environment, and there is none during a collection. better-sqlite3 12 builds its databases, statements
 * and iterators so. They are kept here instead; what they hold in SQLite is freed when their database is closed, a few hundred bytes each
 * stay until the process ends. Older versions of Node are left alone.
 */
const AFFECTED = Number(process.versions.node.split(".")[0]) >= 24;

const kept: object[] = [];
const patched = new WeakSet<object>();

type Method = (this: object, ...args: unknown[]) => object;

function keepResults(prototype: Record<string, unknown>, method: string, onFirst?: (result: object) => void): void {
  const original = prototype[method] as Method;
  prototype[method] = function (this: object, ...args: unknown[]): object {
    const result = original.apply(this, args);
    kept.push(result);
    onFirst?.(result);
    return result;
  };
}

const once = (prototype: object, act: (prototype: Record<string, unknown>) => void): void => {
  if (patched.has(prototype)) return;
  patched.add(prototype);
  act(prototype as Record<string, unknown>);
};

/** Keeps a database's native objects alive where freeing them would end the process; gives the database back. */
export function keepNativeObjects(db: Database.Database): Database.Database {
  if (!AFFECTED) return db;
  for (const symbol of Object.getOwnPropertySymbols(db)) {
    const native = (db as unknown as Record<symbol, unknown>)[symbol];
    if (typeof native !== "object" || native === null || typeof (native as { prepare?: unknown }).prepare !== "function") continue;
    kept.push(native);
    once(Object.getPrototypeOf(native) as object, (prototype) =>
      keepResults(prototype, "prepare", (statement) => once(Object.getPrototypeOf(statement) as object, (p) => keepResults(p, "iterate"))),
    );
  }
  return db;
}
