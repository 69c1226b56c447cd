import { AppError } from "../../schemas/error-codes.js";
import type { SinkHealth, StoreSink } from "./store-types.js";

/** The sink of a store that was opened for reading: taking rows into it is a defect of the caller. */
export class ReadOnlySink implements StoreSink {
  constructor(private readonly file: string) {}

  samples(): never {
    return this.refuse();
  }

  series(): never {
    return this.refuse();
  }

  requests(): never {
    return this.refuse();
  }

  marks(): never {
    return this.refuse();
  }

  verdicts(): never {
    return this.refuse();
  }

  origin(): never {
    return this.refuse();
  }

  rejected(): never {
    return this.refuse();
  }

  manifest(): never {
    return this.refuse();
  }

  flush(): void {}

  health(): SinkHealth {
    return { bufferedRows: 0, droppedRows: 0, flushes: 0, lastError: null, lastFlushDurationMs: null };
  }

  private refuse(): never {
    throw new AppError("DB_WRITE", `the database ${this.file} was opened for reading only`);
  }
}
