/** Seeded random numbers (sfc32). Streams of one seed with different names are independent, so that adding a fault moves no arrival. */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private d = 1;

  constructor(seed: number, stream: string) {
    let hash = 1779033703 ^ stream.length;
    for (const char of `${seed}/${stream}`) hash = Math.imul(hash ^ char.charCodeAt(0), 3432918353) ^ (hash >>> 13);
    this.a = hash | 0;
    this.b = Math.imul(hash, 2246822507) | 0;
    this.c = Math.imul(hash ^ (hash >>> 16), 3266489909) | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** Uniform in [0, 1). */
  next(): number {
    const t = (((this.a + this.b) | 0) + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + t;
    this.c |= 0;
    return (t >>> 0) / 4294967296;
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  lognormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal());
  }
}
