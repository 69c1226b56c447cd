import type { Phase } from "../../schemas/index.js";

/** Share of an excess by the phase that it was spent in; the shares sum to 1. */
export type PhaseShares = Readonly<Partial<Record<Phase, number>>>;
