import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Tag of a field: number and wire type as they stand before its value. */
export const fieldTag = (number: number, wire: WireType): number => (number << 3) | wire;

/**
 * Walks through nested protobuf messages with one reader and without copies: a span has some thirty of them, and a reader for each
 * would cost more than reading. Every method throws RangeError or Error for bytes that are no protobuf.
 */
export class ProtobufCursor {
  private readonly reader: BinaryReader;
  private readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.reader = new BinaryReader(bytes);
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get position(): number {
    return this.reader.pos;
  }

  moveTo(position: number): void {
    this.reader.pos = position;
  }

  get length(): number {
    return this.reader.len;
  }

  /** The next field's tag, or 0 at the end of the message. */
  next(end: number): number {
    if (this.reader.pos < end) {
      const tag = this.reader.uint32();
      if (tag >>> 3 === 0) throw new RangeError("a field has no number");
      return tag;
    }
    if (this.reader.pos > end) throw new RangeError("a field is longer than its message");
    return 0;
  }

  /** Enters a length-delimited field and gives where it ends. */
  enter(end: number): number {
    const length = this.reader.uint32();
    const stop = this.reader.pos + length;
    if (stop > end) throw new RangeError("a message is cut");
    return stop;
  }

  skip(tag: number, end: number): void {
    const wire = tag & 7;
    if (wire === WireType.LengthDelimited) this.reader.pos = this.enter(end);
    else this.reader.skip(wire, tag >>> 3);
  }

  /** A length-delimited field as text: `hex` for ids, `latin1` for names that are ASCII, `utf8` for the rest. */
  text(end: number, encoding: "hex" | "latin1" | "utf8"): string {
    const stop = this.enter(end);
    const text = this.bytes.toString(encoding, this.reader.pos, stop);
    this.reader.pos = stop;
    return text;
  }

  varint(): number {
    return this.reader.int32();
  }

  bool(): boolean {
    return this.reader.bool();
  }

  int64(): bigint | string {
    return this.reader.int64();
  }

  fixed32(): number {
    return this.reader.fixed32();
  }

  double(): number {
    return this.reader.double();
  }
}
