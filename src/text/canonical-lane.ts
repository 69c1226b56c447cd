/** One series of numbers with their times, growing in place: 16 bytes a reading. */
export class Lane {
  n = 0;
  ts: Float64Array<ArrayBuffer> = new Float64Array(1);
  values: Float64Array<ArrayBuffer> = new Float64Array(1);
  #sorted = true;

  push(tsUs: number, value: number): void {
    if (this.n === this.ts.length) {
      const size = Math.max(8, this.n * 2);
      const ts = new Float64Array(size);
      const values = new Float64Array(size);
      ts.set(this.ts);
      values.set(this.values);
      this.ts = ts;
      this.values = values;
    }
    if (this.n > 0 && tsUs < this.ts[this.n - 1]!) this.#sorted = false;
    this.ts[this.n] = tsUs;
    this.values[this.n] = value;
    this.n++;
  }

  clear(): void {
    this.n = 0;
    this.#sorted = true;
  }

  /** Brings the readings into the order of time; readings of one time keep their order. */
  sort(): void {
    if (this.#sorted) return;
    const order = Array.from({ length: this.n }, (_, i) => i).sort((a, b) => this.ts[a]! - this.ts[b]! || a - b);
    this.ts = Float64Array.from(order, (i) => this.ts[i]!);
    this.values = Float64Array.from(order, (i) => this.values[i]!);
    this.#sorted = true;
  }
}

/** All distinct times of the lanes, ascending. */
export function unionOfTimes(lanes: readonly Lane[]): Float64Array {
  let size = 0;
  for (const lane of lanes) size += lane.n;
  const all = new Float64Array(size);
  let at = 0;
  for (const lane of lanes) {
    all.set(lane.ts.subarray(0, lane.n), at);
    at += lane.n;
  }
  all.sort();
  let kept = 0;
  for (let i = 0; i < size; i++) if (i === 0 || all[i] !== all[kept - 1]) all[kept++] = all[i]!;
  return all.subarray(0, kept);
}
