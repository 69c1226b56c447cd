import type { Command } from "commander";
import { AppError } from "../../schemas/error-codes.js";
import { table } from "../report/text-layout.js";
import { checkDatabase } from "../store/check-database.js";
import { compactDatabase } from "../store/compact-database.js";
import { type Cell, queryDatabase, tableNames } from "../store/query-database.js";
import { repairDatabase } from "../store/repair-database.js";
import { formatIso } from "../time/iso-time.js";
import { type CommandIo, DB_OPTION, databasePath } from "./command-io.js";

interface DbFlags {
  readonly db?: string;
  readonly json?: boolean;
  readonly out?: string;
  readonly csv?: string;
}

export function register(program: Command, io: CommandIo): void {
  const db = program.command("db").description("look after the database");
  const sub = (name: string, text: string, action: (file: string, flags: DbFlags, io: CommandIo) => void): Command =>
    db
      .command(name)
      .description(text)
      .option(...DB_OPTION)
      .action((flags: DbFlags) => action(databasePath(flags.db, io.env), flags, io));
  sub("check", "is the file sound, what is in it, how large; exit status 1 when it is damaged", check).option("--json", "print as JSON");
  sub("repair", "mend a damaged file, or copy what can still be read", repair)
    .option("--out <file>", "where the copy goes (default: the database's name with .repaired)")
    .option("--json", "print as JSON");
  sub("compact", "give unused space back", compact).option("--json", "print as JSON");
  sub("export", "write a table or view to stdout", exportTable).requiredOption("--csv <table>", "as CSV with a header line");
}

const bytes = (n: number): string =>
  n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(2)} GB`;

function check(file: string, flags: DbFlags, io: CommandIo): void {
  const found = checkDatabase(file);
  if (found.problems.length > 0) io.exit(1);
  if (flags.json) {
    io.out(`${JSON.stringify(found)}\n`);
    return;
  }
  io.out(`${file}: version ${found.version}, ${bytes(found.file_bytes)} and ${bytes(found.wal_bytes)} in its log\n`);
  if (found.first_us !== null && found.last_us !== null) io.out(`data from ${formatIso(found.first_us)} to ${formatIso(found.last_us)}\n`);
  const rows = found.tables.filter((t) => t.rows > 0).map((t) => [t.name, String(t.rows), bytes(t.bytes)]);
  if (rows.length > 0) io.out(`${table([["TABLE", "ROWS", "SIZE"], ...rows], [1, 2]).join("\n")}\n`);
  if (found.problems.length === 0) io.out("sound\n");
  else {
    for (const problem of found.problems) io.out(`problem: ${problem}\n`);
    io.err(`whyslow: the database ${file} is damaged; try \`whyslow db repair\` [DB_CORRUPT]\n`);
  }
}

function repair(file: string, flags: DbFlags, io: CommandIo): void {
  const done = repairDatabase(file, flags.out);
  if (flags.json) {
    io.out(`${JSON.stringify(done)}\n`);
    return;
  }
  for (const problem of done.problems) io.out(`problem: ${problem}\n`);
  if (done.outcome === "sound") io.out(`${file} is sound: nothing to do\n`);
  else if (done.outcome === "reindexed") io.out(`${file}: indexes rebuilt, all rows are there\n`);
  else {
    for (const t of done.tables.filter((r) => r.rows > 0 || r.cut))
      io.out(`${t.name}: ${t.rows} rows saved${t.cut ? ", some are lost" : ""}\n`);
    io.out(`saved into ${done.copy}; ${file} is as it was\nnext: end the agent, put the copy in its place, and start it again\n`);
  }
}

function compact(file: string, flags: DbFlags, io: CommandIo): void {
  const done = compactDatabase(file);
  if (flags.json) io.out(`${JSON.stringify(done)}\n`);
  else io.out(`${file}: ${bytes(done.before_bytes)} before, ${bytes(done.after_bytes)} now\n`);
}

function exportTable(file: string, flags: DbFlags, io: CommandIo): void {
  const names = tableNames(file);
  const name = flags.csv ?? "";
  if (!names.includes(name))
    throw new AppError("USAGE", `there is no table ${JSON.stringify(name)}`, { mend: `there are ${names.join(", ")}` });
  queryDatabase(file, `SELECT * FROM "${name}"`, (result) => {
    io.out(csvLine(result.columns));
    for (const row of result.rows()) io.out(csvLine(row));
  });
}

/** RFC 4180; a missing value is an empty field. */
const csvLine = (cells: readonly Cell[]): string =>
  `${cells.map((c) => (c === null ? "" : /[",\r\n]/.test(String(c)) ? `"${String(c).replaceAll('"', '""')}"` : String(c))).join(",")}\r\n`;
