const DAY_US = 86_400_000_000;
/** A file over less than this is one test, however long its pauses are. */
const LONG_US = 7 * DAY_US;

/** When a file's requests came, by day: tells whether some lie apart from the rest, as those of a wrong clock do. */
export class RequestDays {
  private readonly days = new Map<number, { first_us: number; last_us: number; count: number }>();

  add(start_us: number): void {
    const key = Math.floor(start_us / DAY_US);
    const day = this.days.get(key);
    if (!day) this.days.set(key, { first_us: start_us, last_us: start_us, count: 1 });
    else {
      day.first_us = Math.min(day.first_us, start_us);
      day.last_us = Math.max(day.last_us, start_us);
      day.count++;
    }
  }

  /** How many requests lie more than a day from the largest group, where the file spans more than a week; null when none does. */
  apart(): string | null {
    const days = [...this.days.values()].sort((a, b) => a.first_us - b.first_us);
    const first = days[0];
    const last = days.at(-1);
    if (!first || !last || last.last_us - first.first_us <= LONG_US) return null;
    const groups: { from_us: number; to_us: number; count: number }[] = [];
    for (const day of days) {
      const group = groups.at(-1);
      if (group && day.first_us - group.to_us <= DAY_US) {
        group.to_us = day.last_us;
        group.count += day.count;
      } else groups.push({ from_us: day.first_us, to_us: day.last_us, count: day.count });
    }
    if (groups.length < 2) return null;
    const main = groups.reduce((a, b) => (b.count > a.count ? b : a));
    const all = groups.reduce((sum, group) => sum + group.count, 0);
    const apart = all - main.count;
    return `${apart} of ${all} requests lie apart: most are from ${date(main.from_us)} to ${date(main.to_us)}, all from ${date(first.first_us)} to ${date(last.last_us)}; is a clock wrong?`;
  }
}

const date = (us: number): string => new Date(us / 1000).toISOString().slice(0, 10);
