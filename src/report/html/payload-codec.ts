/**
 * Numbers of the page as one blob: a JSON head, then unsigned columns. A column is stored as differences where it ascends, and by byte
 * planes (all lowest bytes first), which deflate packs far better than interleaved ones. Used by the builder (pack) and by the page (unpack).
 */
export type ColumnWidth = 1 | 2 | 4;

interface ColumnHead {
  readonly n: number;
  readonly width: ColumnWidth;
  readonly delta: boolean;
}

/** Collects columns; `add` gives the number by which the JSON head names the column. */
export class ColumnPacker {
  readonly #heads: ColumnHead[] = [];
  readonly #planes: Uint8Array[] = [];

  /** Values are integers of `width` bytes; with `delta` they ascend. */
  add(values: ArrayLike<number>, width: ColumnWidth, delta = false): number {
    const n = values.length;
    const planes = new Uint8Array(n * width);
    let before = 0;
    for (let i = 0; i < n; i++) {
      const value = delta ? values[i]! - before : values[i]!;
      before = values[i]!;
      for (let b = 0; b < width; b++) planes[b * n + i] = (value / 2 ** (8 * b)) & 0xff;
    }
    this.#heads.push({ n, width, delta });
    this.#planes.push(planes);
    return this.#heads.length - 1;
  }

  /** `data` and the columns, as one blob. */
  pack(data: unknown): Uint8Array {
    const head = new TextEncoder().encode(JSON.stringify({ columns: this.#heads, data }));
    const out = new Uint8Array(4 + head.length + this.#planes.reduce((sum, p) => sum + p.length, 0));
    new DataView(out.buffer).setUint32(0, head.length);
    out.set(head, 4);
    let at = 4 + head.length;
    for (const plane of this.#planes) {
      out.set(plane, at);
      at += plane.length;
    }
    return out;
  }
}

export interface Unpacked<T> {
  readonly data: T;
  readonly column: (index: number) => Float64Array;
}

/** Reads what `pack` made; columns come as numbers, made on demand. */
export function unpack<T>(blob: Uint8Array): Unpacked<T> {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  const headEnd = 4 + view.getUint32(0);
  const { columns, data } = JSON.parse(new TextDecoder().decode(blob.subarray(4, headEnd))) as { columns: ColumnHead[]; data: T };
  const starts: number[] = [];
  let at = headEnd;
  for (const { n, width } of columns) {
    starts.push(at);
    at += n * width;
  }
  const column = (index: number): Float64Array => {
    const { n, width, delta } = columns[index]!;
    const out = new Float64Array(n);
    for (let b = 0; b < width; b++) {
      const scale = 2 ** (8 * b);
      const start = starts[index]! + b * n;
      for (let i = 0; i < n; i++) out[i]! += blob[start + i]! * scale;
    }
    if (delta) for (let i = 1; i < n; i++) out[i]! += out[i - 1]!;
    return out;
  };
  return { data, column };
}

/** Latencies as steps of 0.4 % from 1 µs on: what a dot needs. 0 = missing. */
const STEP = 0.004;
const FLOOR_MS = 1e-3;

export const toLogStep = (ms: number): number =>
  Number.isFinite(ms) ? Math.min(65_535, 1 + Math.max(0, Math.round(Math.log(Math.max(ms, FLOOR_MS) / FLOOR_MS) / STEP))) : 0;

export const fromLogStep = (step: number): number => (step === 0 ? Number.NaN : FLOOR_MS * Math.exp((step - 1) * STEP));

/** A reading as one of 4095 levels between the extremes of its series. */
export const LEVELS = 4094;
export const GAP_LEVEL = 0xffff;
