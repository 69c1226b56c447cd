import fs from "node:fs";
import path from "node:path";

/**
 * A folder of small files that are rewritten in place, as those of /proc and /sys change: a reader that holds one open sees the new
 * text, and none is ever missing. What did not change is not written.
 */
export class HeldTree {
  private readonly files = new Map<string, { readonly fd: number; text: string }>();

  constructor(readonly root: string) {}

  write(name: string, text: string): void {
    const held = this.files.get(name) ?? this.open(name);
    if (held.text === text) return;
    fs.writeSync(held.fd, text, 0);
    if (Buffer.byteLength(text) < Buffer.byteLength(held.text)) fs.ftruncateSync(held.fd, Buffer.byteLength(text));
    held.text = text;
  }

  private open(name: string): { readonly fd: number; text: string } {
    const file = path.join(this.root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const held = { fd: fs.openSync(file, "w+"), text: "" };
    this.files.set(name, held);
    return held;
  }

  close(): void {
    for (const { fd } of this.files.values()) fs.closeSync(fd);
    this.files.clear();
  }
}
