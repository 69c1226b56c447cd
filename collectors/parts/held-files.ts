import { close, open, read } from "node:fs";
import { promisify } from "node:util";

const openFile = promisify(open);
/** Such a file is one number or one short line. */
const READ_BYTES = 256;

/**
 * Small files of /sys that are read again and again and whose reading may wait for a device: they stay open, so that a reading costs one
 * turn of the thread pool instead of four, and the event loop never waits.
 */
export class HeldFiles {
  private readonly descriptors = new Map<string, number>();

  /** The text of the file from its start; null when it cannot be read. */
  async read(path: string): Promise<string | null> {
    try {
      const fd = this.descriptors.get(path) ?? (await openFile(path, "r"));
      this.descriptors.set(path, fd);
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      return await new Promise<string>((resolve, reject) => {
        read(fd, buffer, 0, READ_BYTES, 0, (error, length) => (error ? reject(error) : resolve(buffer.toString("utf8", 0, length))));
      });
    } catch {
      this.drop(path);
      return null;
    }
  }

  /** Closes all files. Reading again opens them again. */
  close(): void {
    for (const path of [...this.descriptors.keys()]) this.drop(path);
  }

  private drop(path: string): void {
    const fd = this.descriptors.get(path);
    if (fd === undefined) return;
    this.descriptors.delete(path);
    close(fd, () => {});
  }
}
