/**
 * The names that `nvidia-smi --help-query-gpu` lists, aliases included. A definition stands alone on its line (`"name"` or
 * `"name" or "alias"`); quoted words inside of explanations do not count.
 */
export const parseSmiFieldList = (text: string): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const match = /^"([\w.]+)"(?: or "([\w.]+)")?\s*$/.exec(line);
    if (!match) continue;
    for (const name of [match[1], match[2]]) if (name !== undefined) names.add(name);
  }
  return names;
};

/**
 * Chooses per wanted entry the first spelling that is known and not refused. `known` empty = the list could not be read: the first
 * spelling that was not refused is tried.
 */
export const chooseSmiFields = (
  wanted: readonly (readonly string[])[],
  known: ReadonlySet<string>,
  refused: ReadonlySet<string>,
): readonly string[] =>
  wanted.flatMap((spellings) => {
    const name = spellings.find((s) => !refused.has(s) && (known.size === 0 || known.has(s)));
    return name === undefined ? [] : [name];
  });
