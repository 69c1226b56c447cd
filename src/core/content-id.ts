/** A short identifier that depends only on the text: two 32-bit FNV-1a hashes with different offsets, as hexadecimal. */
export const contentId = (text: string): string => {
  let a = 0x811c9dc5;
  let b = 0xcbf29ce4;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x01000193);
    b = Math.imul(b ^ (c + 0x9e37), 0x01000193);
  }
  const hex = (x: number) => (x >>> 0).toString(16).padStart(8, "0");
  return (hex(a) + hex(b)).slice(0, 12);
};
