/** Columns of one track while its rows arrive in ascending time. Missing = NaN; a column appears with its first value. */
export class GrowingTrack {
  private size = 0;
  private capacity = 64;
  private ts = new Float64Array(64);
  private epochs = new Int32Array(64);
  private readonly data: (Float64Array | null)[];

  constructor(width: number) {
    this.data = new Array<Float64Array | null>(width).fill(null);
  }

  /** `row[from..]` are the columns' values or null. */
  push(tsUs: number, epoch: number, row: readonly unknown[], from: number): void {
    if (this.size === this.capacity) this.grow();
    const at = this.size++;
    this.ts[at] = tsUs;
    this.epochs[at] = epoch;
    for (let c = 0; c < this.data.length; c++) {
      const value = row[from + c];
      if (value === null) continue;
      let column = this.data[c];
      if (!column) {
        column = new Float64Array(this.capacity).fill(Number.NaN);
        this.data[c] = column;
      }
      column[at] = value as number;
    }
  }

  finish(names: readonly string[]): { ts_us: Float64Array; epoch: Int32Array; columns: Record<string, Float64Array> } {
    const columns: Record<string, Float64Array> = {};
    for (const [c, name] of names.entries()) {
      const column = this.data[c];
      if (column) columns[name] = column.slice(0, this.size);
    }
    return { ts_us: this.ts.slice(0, this.size), epoch: this.epochs.slice(0, this.size), columns };
  }

  private grow(): void {
    this.capacity *= 2;
    const ts = new Float64Array(this.capacity);
    ts.set(this.ts);
    this.ts = ts;
    const epochs = new Int32Array(this.capacity);
    epochs.set(this.epochs);
    this.epochs = epochs;
    for (const [c, column] of this.data.entries()) {
      if (!column) continue;
      const wider = new Float64Array(this.capacity).fill(Number.NaN, this.size);
      wider.set(column);
      this.data[c] = wider;
    }
  }
}
