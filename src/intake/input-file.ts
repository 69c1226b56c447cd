import fs from "node:fs";
import { finished } from "node:stream/promises";
import zlib from "node:zlib";
import { AppError } from "../../schemas/error-codes.js";

/** What a file may cost. Telemetry text compresses 20 to 60 times, zeros about 1,000 times. */
export interface InputLimits {
  /** Largest size after inflating, bytes. */
  readonly max_bytes: number;
  /** Largest inflated over compressed size, watched from `ratio_from_bytes` on. */
  readonly max_ratio: number;
  readonly ratio_from_bytes: number;
  /** A line beyond this is refused without being held, bytes. */
  readonly max_line_bytes: number;
  /** Largest file of a format that must be parsed as a whole, bytes. */
  readonly max_document_bytes: number;
}

export const DEFAULT_INPUT_LIMITS: InputLimits = {
  max_bytes: 16 * 2 ** 30,
  max_ratio: 500,
  ratio_from_bytes: 16 * 2 ** 20,
  max_line_bytes: 128 * 2 ** 20,
  max_document_bytes: 400 * 2 ** 20,
};

/** One file to import, gzip or plain: which of both its first bytes decide, not its name. */
export interface InputFile {
  readonly path: string;
  readonly gzip: boolean;
  /** The content in chunks, inflated. Throws AppError FILE_TOO_LARGE, FILE_UNREADABLE. */
  chunks(): AsyncIterable<Buffer>;
  /** True when the gzip stream that `chunks` has read to its end was cut or damaged. */
  isTruncated(): Promise<boolean>;
}

/** @throws AppError FILE_UNREADABLE, FILE_EMPTY. */
export function openInputFile(path: string, limits: InputLimits): InputFile {
  const magic = Buffer.alloc(2);
  let size: number;
  try {
    const fd = fs.openSync(path, "r");
    try {
      if (!fs.fstatSync(fd).isFile()) throw new Error("not a regular file");
      size = fs.readSync(fd, magic, 0, 2, 0);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  if (size === 0) throw new AppError("FILE_EMPTY", `${path} is empty`, { mend: "check that the tool that wrote it had ended" });
  const gzip = size === 2 && magic[0] === 0x1f && magic[1] === 0x8b;
  let inflated = 0;
  return {
    path,
    gzip,
    async *chunks() {
      inflated = 0;
      for await (const chunk of gzip ? inflate(path, limits) : plain(path)) {
        inflated += chunk.length;
        if (inflated > limits.max_bytes) throw tooLarge(path, limits.max_bytes);
        yield chunk;
      }
    },
    isTruncated: async () => gzip && (await endsEarly(path, inflated)),
  };
}

async function* plain(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of fs.createReadStream(path, { highWaterMark: 1 << 18 })) yield chunk as Buffer;
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function* inflate(path: string, limits: InputLimits): AsyncGenerator<Buffer> {
  const source = fs.createReadStream(path, { highWaterMark: 1 << 16 });
  // With Z_SYNC_FLUSH a stream that ends early gives all that was whole in it instead of an error.
  const gunzip = zlib.createGunzip({ chunkSize: 1 << 18, finishFlush: zlib.constants.Z_SYNC_FLUSH });
  source.on("error", (error) => gunzip.destroy(error));
  let inflated = 0;
  try {
    for await (const chunk of source.pipe(gunzip)) {
      inflated += (chunk as Buffer).length;
      if (inflated > limits.ratio_from_bytes && inflated > limits.max_ratio * gunzip.bytesWritten)
        throw new AppError("FILE_TOO_LARGE", `${path} inflates more than ${limits.max_ratio} times, as only a gzip bomb does`, {
          mend: "unpack it yourself if you trust it",
        });
      yield chunk as Buffer;
    }
  } catch (error) {
    // Damage within: what came before it stands, and isTruncated tells.
    if (inflated > 0 && (error as NodeJS.ErrnoException).code === "Z_DATA_ERROR") return;
    throw unreadable(path, error);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/** A whole gzip file ends in its inflated size; where that differs (cut, or several members), a strict second pass decides. */
async function endsEarly(path: string, inflated: number): Promise<boolean> {
  const fd = fs.openSync(path, "r");
  const trailer = Buffer.alloc(4);
  try {
    const size = fs.fstatSync(fd).size;
    fs.readSync(fd, trailer, 0, 4, Math.max(0, size - 4));
  } finally {
    fs.closeSync(fd);
  }
  if (trailer.readUInt32LE(0) === inflated % 2 ** 32) return false;
  const gunzip = fs.createReadStream(path).pipe(zlib.createGunzip());
  gunzip.resume();
  try {
    await finished(gunzip);
    return false;
  } catch {
    return true;
  }
}

function tooLarge(path: string, limit: number): AppError {
  return new AppError("FILE_TOO_LARGE", `${path} holds more than ${Math.round(limit / 2 ** 20)} MiB`, { mend: "split it" });
}

function unreadable(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const why = READ_FAULTS[code] ?? (error instanceof Error ? error.message : String(error));
  return new AppError("FILE_UNREADABLE", `${path} cannot be read: ${why}`, { cause: error });
}

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  Z_DATA_ERROR: "its gzip data is damaged",
  Z_BUF_ERROR: "its gzip data ends early",
};
