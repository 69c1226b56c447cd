/**
 * Squares of one colour set as pixels of a picture of their own: 100,000 of them cost what a few hundred cost as drawing calls.
 * Sizes and places are in device pixels.
 */
export class DotRaster {
  readonly #width: number;
  readonly #height: number;
  readonly #size: number;
  readonly #image: ImageData;
  readonly #pixels: Uint32Array;

  constructor(width: number, height: number, size: number) {
    this.#width = Math.max(1, Math.ceil(width));
    this.#height = Math.max(1, Math.ceil(height));
    this.#size = Math.max(1, Math.round(size));
    this.#image = new ImageData(this.#width, this.#height);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
  }

  /** A square around a place. */
  dot(x: number, y: number): void {
    const left = Math.max(0, Math.round(x - this.#size / 2));
    const top = Math.max(0, Math.round(y - this.#size / 2));
    const right = Math.min(this.#width, left + this.#size);
    const bottom = Math.min(this.#height, top + this.#size);
    for (let row = top; row < bottom; row++) this.#pixels.fill(0xff_00_00_00, row * this.#width + left, row * this.#width + right);
  }

  /** Lays the squares over what is drawn already. */
  paint(ctx: CanvasRenderingContext2D, left: number, top: number, colour: string): void {
    const layer = new OffscreenCanvas(this.#width, this.#height);
    const own = layer.getContext("2d")!;
    own.putImageData(this.#image, 0, 0);
    own.globalCompositeOperation = "source-in";
    own.fillStyle = colour;
    own.fillRect(0, 0, this.#width, this.#height);
    ctx.drawImage(layer, left, top);
  }
}
