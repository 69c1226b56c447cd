/** Gathers rows and hands them on in batches, so that a file of any length is read in bounded memory. */
export class RowBatch<T> {
  private rows: T[] = [];

  constructor(
    private readonly give: (rows: readonly T[]) => void,
    private readonly size = 4096,
  ) {}

  add(row: T): void {
    this.rows.push(row);
    if (this.rows.length >= this.size) this.flush();
  }

  flush(): void {
    if (this.rows.length === 0) return;
    const rows = this.rows;
    this.rows = [];
    this.give(rows);
  }
}
