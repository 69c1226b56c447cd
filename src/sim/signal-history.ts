/**
 * Piecewise constant signals kept as their integrals, so that the mean over any interval costs two searches.
 * Segments come in order of time and without gaps.
 */
export class SignalHistory {
  private readonly ends: number[];
  /** Integral up to `ends[i]`, one array a channel. */
  private readonly integrals: number[][];

  constructor(
    readonly channels: number,
    start_us = 0,
  ) {
    this.ends = [start_us];
    this.integrals = Array.from({ length: channels }, () => [0]);
  }

  get end_us(): number {
    return this.ends[this.ends.length - 1]!;
  }

  /** Appends one segment from the present end to `end_us`; an empty one is dropped. */
  push(end_us: number, levels: readonly number[]): void {
    const width = end_us - this.end_us;
    if (width <= 0) return;
    for (let c = 0; c < this.channels; c++) {
      const integral = this.integrals[c]!;
      integral.push(integral[integral.length - 1]! + levels[c]! * width);
    }
    this.ends.push(end_us);
    if (this.ends.length > 40_000) this.forget(20_000);
  }

  private forget(count: number): void {
    this.ends.splice(0, count);
    for (const integral of this.integrals) integral.splice(0, count);
  }

  /** Integral of a channel from the start to `at_us`, in level × µs; before the kept part it is the oldest kept value. */
  integral(channel: number, at_us: number): number {
    const values = this.integrals[channel]!;
    let low = 0;
    let high = this.ends.length - 1;
    if (at_us >= this.ends[high]!) return values[high]!;
    if (at_us <= this.ends[0]!) return values[0]!;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.ends[middle]! <= at_us) low = middle;
      else high = middle;
    }
    const share = (at_us - this.ends[low]!) / (this.ends[high]! - this.ends[low]!);
    return values[low]! + share * (values[high]! - values[low]!);
  }

  mean(channel: number, from_us: number, to_us: number): number {
    if (to_us <= from_us) return 0;
    return (this.integral(channel, to_us) - this.integral(channel, from_us)) / (to_us - from_us);
  }
}
