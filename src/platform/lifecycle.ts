const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export interface StopSignals {
  /** Settles with the name of the first signal. */
  readonly first: Promise<(typeof SIGNALS)[number]>;
  /** Gives the signals back to the process. */
  release(): void;
}

/** Takes SIGTERM and SIGINT: the first asks for an orderly stop, the second ends the process at once with status 1. */
export function catchStopSignals(options: { force?: () => void } = {}): StopSignals {
  const force = options.force ?? ((): void => process.exit(1));
  let asked = false;
  let resolveFirst: (signal: (typeof SIGNALS)[number]) => void = () => {};
  const first = new Promise<(typeof SIGNALS)[number]>((resolve) => {
    resolveFirst = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked) force();
    asked = true;
    resolveFirst(signal as (typeof SIGNALS)[number]);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    first,
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
