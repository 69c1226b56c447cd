/** Cumulative counts as a Prometheus histogram gives them. */
export class Histogram {
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length).fill(0);
  }

  observe(value: number, times = 1): void {
    this.sum += value * times;
    this.count += times;
    for (let i = this.bounds.length - 1; i >= 0 && this.bounds[i]! >= value; i--) this.counts[i]! += times;
  }
}

/** Bounds of vLLM 0.11 V1. */
const TTFT = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560];
const TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const REQUEST = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
const ITERATION = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];

export const newHistograms = () => ({
  ttft: new Histogram(TTFT),
  itl: new Histogram(TOKEN),
  tpot: new Histogram(TOKEN),
  e2e: new Histogram(REQUEST),
  queue: new Histogram(REQUEST),
  prefill: new Histogram(REQUEST),
  decode: new Histogram(REQUEST),
  inference: new Histogram(REQUEST),
  iteration_tokens: new Histogram(ITERATION),
  prompt_tokens: new Histogram(SIZES),
  generation_tokens: new Histogram(SIZES),
});
export type Histograms = ReturnType<typeof newHistograms>;
