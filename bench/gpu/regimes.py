"""What is done to the server, when, and with which requests.

Every regime plays the same tape of requests: quiet at first, then `FAULT_S` seconds of one fault, then a short rest. The baseline plays it
without a fault, so that each request of a fault has an undisturbed twin. A fault that is load adds requests of its own, without a twin.
"""
import random

LEAD_S = 3.0
FAULT_S = 15.0
TAIL_S = 0.3
TOKENS_PER_WORD = 2.1
#: Tokens of context that a session has in the KV pool when it comes back.
CONTEXT = 24_000
#: Share of the time that the tape's own prompts keep the server busy.
PREFILL_SHARE = 0.28
MAX_RATE = 8.0
#: Many requests of moderate size at a time: a pool that held only a few would never be full, whatever waits for it.
PROMPT_MEDIAN, PROMPT_SIGMA, PROMPT_MAX = 600, 0.5, 1500
OUTPUT_MEDIAN, OUTPUT_SIGMA, OUTPUT_MAX = 160, 0.4, 400
PROMPT_MEAN = 680

#: name, class, cause, how the fault is made
REGIMES = [
    ("baseline", None, None, "none"),
    ("long_prompts", "compute", "prefill-interference", "prompts of 16k tokens"),
    ("arrival_burst", "compute", "burst-saturation", "arrivals beyond what prefill can take"),
    ("context_growth", "bandwidth", "long-context", "sessions of 24k cached context that decode along"),
    ("bw_cotenant", "bandwidth", "shared-gpu", "another process copies device memory"),
    ("kv_blocked", "kv_cache", "admission-blocked", "all but a little of the KV pool held, admission by the whole possible length"),
    ("kv_preempt", "kv_cache", "preemption-storm", "all but a little of the KV pool held, admission by the prompt alone"),
    ("cpu_starved", "cpu_tokenization", "tokenize", "the front process pinned to one core that it shares with spinning processes"),
]


def between(low, value, high):
    return max(low, min(high, int(value)))


class Plan:
    """Times scale with `scale`; request sizes do not."""

    def __init__(self, speed, scale=1.0, seed=17):
        self.scale = scale
        self.lead, self.fault, self.tail = LEAD_S * scale, FAULT_S * scale, TAIL_S * scale
        self.prefill = speed["prefill_tokens_per_s"]
        self.rate = min(MAX_RATE, PREFILL_SHARE * self.prefill / PROMPT_MEAN)
        self.pool_tokens = speed["pool_blocks"] * 16
        rng, at, self.tape = random.Random(seed), 0.0, []
        while True:
            at += rng.expovariate(self.rate)
            if at >= self.lead + self.fault + self.tail:
                break
            prompt = between(40, rng.lognormvariate(0, PROMPT_SIGMA) * PROMPT_MEDIAN, PROMPT_MAX)
            output = between(8, rng.lognormvariate(0, OUTPUT_SIGMA) * OUTPUT_MEDIAN, OUTPUT_MAX)
            self.tape.append(self._request(at, prompt, output))

    def _request(self, at, prompt, output, cached=0):
        words = max(1, round(prompt / TOKENS_PER_WORD))
        return {"at": round(at, 4), "seed": words * 7919 + round(at * 1e4), "words": words, "max_tokens": output, "cached": cached}

    def requests(self, regime):
        """The tape as `REGIME-b-NNN`, what the fault adds as `REGIME-x-NNN`."""
        extra = getattr(self, f"_extra_{regime}", lambda rng: [])(random.Random(regime))
        return [{**r, "id": f"{regime}-b-{i:03d}"} for i, r in enumerate(self.tape)] + [
            {**r, "id": f"{regime}-x-{i:03d}"} for i, r in enumerate(extra)
        ]

    def _extra_long_prompts(self, rng):
        every = 16_000 / (0.65 * self.prefill)
        count = max(1, int(self.fault * 0.9 / every))
        return [self._request(self.lead + i * every, 16_000, 20) for i in range(count)]

    def _extra_arrival_burst(self, rng):
        # Half as much again as prefill can take, for two fifths of the fault: the rest of it drains the queue.
        length, out, at = 0.4 * self.fault, [], 0.0
        rate = 1.3 * self.prefill / PROMPT_MEAN
        while (at := at + rng.expovariate(rate)) < length:
            prompt = between(40, rng.lognormvariate(0, PROMPT_SIGMA) * PROMPT_MEDIAN, PROMPT_MAX)
            out.append(self._request(self.lead + at, prompt, between(8, rng.gauss(30, 8), 60)))
        return out

    def _extra_context_growth(self, rng):
        count = max(2, min(20, int(0.5 * self.pool_tokens / CONTEXT)))
        gap = min(0.1, self.fault / 4 / count)
        output = max(20, int(self.fault / 0.03))
        return [self._request(self.lead + i * gap, 20, output, cached=CONTEXT) for i in range(count)]

    def kv_limit(self, regime, used_blocks):
        """Blocks of the pool that are left: less than what the tape usually needs, more than any one request of it."""
        least = (PROMPT_MAX * 12 // 10 + OUTPUT_MAX) // 16 + 1
        return max(least, int(used_blocks * (0.7 if regime == "kv_blocked" else 0.75)))
