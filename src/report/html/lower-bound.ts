/** First index whose value is not below `t`. */
export function lowerBound(sorted: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < t) low = middle + 1;
    else high = middle;
  }
  return low;
}
