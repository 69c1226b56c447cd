import { type Command, InvalidArgumentError } from "commander";
import { table } from "../report/text-layout.js";
import { type Cell, type QueryResult, queryDatabase } from "../store/query-database.js";
import { type CommandIo, DB_OPTION, databasePath } from "./command-io.js";

interface SqlFlags {
  readonly db?: string;
  readonly json?: boolean;
  readonly limit: number;
}

const DEFAULT_LIMIT = 1000;

export function register(program: Command, io: CommandIo): void {
  program
    .command("sql")
    .description("read the store with one SQL statement; views: gpu, host, process, link, server, requests, series_value, entities")
    .argument("<query>", "one statement that only reads")
    .option("--limit <rows>", "rows to print as a table; 0 = all", rowCount, DEFAULT_LIMIT)
    .option(...DB_OPTION)
    .option("--json", "an array of objects, all rows")
    .action((query: string, flags: SqlFlags) =>
      queryDatabase(databasePath(flags.db, io.env), query, (result) =>
        flags.json ? printJson(result, io) : printTable(result, flags.limit, io),
      ),
    );
}

function rowCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("give a number of rows, 0 for all");
  return Number(text);
}

function printJson(result: QueryResult, io: CommandIo): void {
  let lead = "[";
  for (const row of result.rows()) {
    io.out(`${lead}${JSON.stringify(Object.fromEntries(result.columns.map((c, i) => [c, row[i]])))}`);
    lead = ",\n";
  }
  io.out(lead === "[" ? "[]\n" : "]\n");
}

function printTable(result: QueryResult, limit: number, io: CommandIo): void {
  const rows: (readonly Cell[])[] = [];
  let more = false;
  for (const row of result.rows()) {
    more = limit > 0 && rows.length === limit;
    if (more) break;
    rows.push(row);
  }
  const numeric = result.columns.flatMap((_, i) =>
    rows.length > 0 && rows.every((r) => typeof r[i] === "number" || r[i] === null) ? [i] : [],
  );
  io.out(`${table([result.columns, ...rows.map((r) => r.map(cellText))], numeric).join("\n")}\n`);
  if (more) io.err(`whyslow: only the first ${limit} rows are shown; --limit 0 shows all\n`);
}

/** Foreign text may hold control characters: they must not reach the terminal. */
const cellText = (value: Cell): string =>
  value === null ? "-" : String(value).replace(/\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
