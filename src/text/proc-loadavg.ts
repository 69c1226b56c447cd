/** Load average over one minute of `/proc/loadavg` (`0.20 0.18 0.12 1/80 11206`); null when it is not a number. */
export const parseLoad1 = (text: string): number | null => {
  const cell = /^\d+(?:\.\d+)?(?= )/.exec(text)?.[0];
  return cell === undefined ? null : Number(cell);
};
