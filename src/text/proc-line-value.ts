/** A non-negative decimal integer, or null for anything else (`max`, `-1`, `N/A (no PMA)`, an empty cell). */
export const parseCount = (token: string | undefined): number | null => (token !== undefined && /^\d+$/.test(token) ? Number(token) : null);

const NEWLINE = 10;
const isSeparator = (code: number): boolean => code === 32 || code === 9 || code === 58;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * The number on the line `KEY VALUE` or `KEY:  VALUE kB` of a kernel file; null when the line is absent, cut off or not a number.
 * It searches instead of splitting because such files have hundreds of lines of which a few are wanted, every second.
 */
export const lineValue = (text: string, key: string): number | null => {
  let at = text.indexOf(key);
  while (at >= 0) {
    let i = at + key.length;
    if ((at === 0 || text.charCodeAt(at - 1) === NEWLINE) && isSeparator(text.charCodeAt(i))) {
      while (isSeparator(text.charCodeAt(i))) i++;
      const start = i;
      while (isDigit(text.charCodeAt(i))) i++;
      const next = text.charCodeAt(i);
      const endsToken = Number.isNaN(next) || next === NEWLINE || next === 32 || next === 9 || next === 13;
      return i > start && endsToken ? Number(text.slice(start, i)) : null;
    }
    at = text.indexOf(key, at + 1);
  }
  return null;
};
