import { conditionsAt, cpuEnd, pauseEnd } from "./conditions.js";
import type { Physics } from "./physics.js";
import type { Fault, ServerOptions } from "./scenario.js";
import { SignalHistory } from "./signal-history.js";

/**
 * The API server, one effective core (the GIL): accepts, tokenises, detokenises and streams, one thing after another on one core. Work is done in the
 * order in which it comes, so the end of a job is known when it is handed in.
 */
export class FrontEnd {
  /** Cores in use. */
  readonly cpu = new SignalHistory(1);
  private free_us = 0;

  constructor(
    private readonly server: ServerOptions,
    private readonly faults: readonly Fault[],
    private readonly costs: Physics["front"],
  ) {}

  private job(at_us: number, work_us: number): number {
    const start = pauseEnd(this.faults, Math.max(at_us, this.free_us));
    const end = cpuEnd(this.faults, start, work_us);
    this.cpu.push(start, [0]);
    this.cpu.push(end, [work_us / (end - start)]);
    this.free_us = end;
    return end;
  }

  /** When the request is tokenised and handed to the engine. */
  tokenize(at_us: number, prompt_tokens: number): number {
    const factor = conditionsAt(this.faults, this.server, at_us).tokenize_factor;
    return this.job(at_us, (this.costs.accept_us + this.costs.tokenize_us_per_token * prompt_tokens) * factor);
  }

  /** When the tokens of one step have been streamed. */
  emit(at_us: number, tokens: number): number {
    return this.job(at_us, this.costs.emit_us_per_token * tokens);
  }

  /** Work handed in and not yet done, µs. */
  backlog(at_us: number): number {
    return Math.max(0, this.free_us - at_us);
  }
}
