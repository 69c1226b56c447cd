import type { PageData } from "../html/page-data.js";
import { type Unpacked, unpack } from "../html/payload-codec.js";

/** The page's data: base64 of deflated columns. Rejects where the browser cannot inflate. */
export async function readPayload(): Promise<Unpacked<PageData>> {
  const text = document.getElementById("page-data")!.textContent!.trim();
  const binary = atob(text);
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) packed[i] = binary.charCodeAt(i);
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return unpack<PageData>(new Uint8Array(await new Response(inflated).arrayBuffer()));
}
