"""Continuous batching over a paged KV pool, as vLLM V1 does it: running requests first, chunked prefill, preemption by recomputing.

Each request keeps account of what its time went to (`booked`, seconds by class): the truth that a comparison of two runs needs.
"""
from collections import deque

BLOCK_TOKENS = 16


def blocks_for(tokens):
    return -(-tokens // BLOCK_TOKENS)


class Sequence:
    def __init__(self, request_id, prompt, max_tokens, cached_tokens, arrived_s):
        self.id = request_id
        self.tokens = list(prompt)
        self.prompt_tokens = len(prompt)
        self.max_tokens = max_tokens
        self.target = len(prompt) + max_tokens
        self.cached_tokens = min(cached_tokens, len(prompt) - 1)
        self.computed = 0
        self.blocks = []
        self.arrived_s = arrived_s
        self.scheduled_s = None
        self.first_s = None
        self.preempted = 0
        self.blocked = False
        self.booked = {}
        self.booked_ttft = None

    def book(self, what, seconds):
        self.booked[what] = self.booked.get(what, 0.0) + seconds

    @property
    def generated(self):
        return len(self.tokens) - self.prompt_tokens

    @property
    def done(self):
        return len(self.tokens) >= self.target


class Work:
    """`count` tokens of one sequence from position `start`; `samples` when the last of them gives a token."""

    __slots__ = ("seq", "start", "count", "samples")

    def __init__(self, seq, start, count):
        self.seq, self.start, self.count = seq, start, count
        self.samples = start + count >= len(seq.tokens)


class Scheduler:
    def __init__(self, total_blocks, max_seqs=256, max_batched_tokens=2048):
        self.total_blocks = total_blocks
        # Requests get no more than this: the rest is as good as held by others.
        self.limit = total_blocks
        self.free = list(range(total_blocks - 1, -1, -1))
        self.max_seqs = max_seqs
        self.max_batched_tokens = max_batched_tokens
        # Admission asks for the whole possible length, as engines do that never preempt.
        self.reserve = False
        self.waiting = deque()
        self.running = []
        self.preemptions = 0

    @property
    def used(self):
        return self.total_blocks - len(self.free)

    @property
    def usage(self):
        """Share of the pool that nobody can have: what requests hold, and what lies beyond the limit."""
        return min(1.0, 1.0 - (self.limit - self.used) / self.total_blocks)

    def _grow(self, seq, tokens):
        need = blocks_for(tokens) - len(seq.blocks)
        # With reservation the limit is kept at admission: what was admitted before a cut may end.
        if need > (self.total_blocks if self.reserve else self.limit) - self.used:
            return False
        for _ in range(need):
            seq.blocks.append(self.free.pop())
        return True

    def _release(self, seq):
        self.free.extend(seq.blocks)
        seq.blocks = []

    def _preempt_last(self):
        seq = self.running.pop()
        self._release(seq)
        seq.computed = 0
        seq.preempted += 1
        seq.blocked = True
        self.preemptions += 1
        self.waiting.appendleft(seq)
        return seq

    def _fits(self, seq):
        if self.reserve:
            return blocks_for(seq.target) <= self.limit - sum(blocks_for(s.target) for s in self.running)
        return blocks_for(len(seq.tokens)) <= self.limit - self.used

    def too_long(self, seq):
        """It could never be admitted, not even alone."""
        return blocks_for(seq.target) > self.total_blocks

    def plan(self, now_s):
        """The work of the next step."""
        budget, work, preempted, index = self.max_batched_tokens, [], False, 0
        while index < len(self.running) and budget > 0:
            seq = self.running[index]
            count = min(len(seq.tokens) - seq.computed, budget)
            placed = True
            while not self._grow(seq, seq.computed + count):
                preempted = True
                if self._preempt_last() is seq:
                    placed = False
                    break
            if not placed:
                break
            work.append(Work(seq, seq.computed, count))
            budget -= count
            index += 1
        while self.waiting and budget > 0 and not preempted:
            seq = self.waiting[0]
            if len(self.running) >= self.max_seqs:
                break
            if not self._fits(seq):
                seq.blocked = True
                break
            self.waiting.popleft()
            if seq.scheduled_s is None:
                seq.scheduled_s = now_s
                seq.computed = seq.cached_tokens
            count = min(len(seq.tokens) - seq.computed, budget)
            self._grow(seq, len(seq.tokens))
            seq.blocked = False
            self.running.append(seq)
            work.append(Work(seq, seq.computed, count))
            budget -= count
        return work

    def account(self, work, seconds, decode_seconds):
        """Books a step of `seconds` on every request. `decode_seconds`: what the step had taken without prefill."""
        prefill = max(0.0, seconds - decode_seconds) if any(w.count > 1 for w in work) else 0.0
        for w in work:
            if w.count > 1:
                w.seq.book("kv_cache" if w.seq.preempted else "compute", seconds)
            else:
                w.seq.book("compute", prefill)
                w.seq.book("bandwidth", seconds - prefill)
        planned = {id(w.seq) for w in work}
        for seq in self.running:
            if id(seq) not in planned:
                seq.book("compute", seconds)
        head_blocked = bool(self.waiting) and self.waiting[0].blocked
        for seq in self.waiting:
            seq.book("kv_cache" if head_blocked or seq.preempted else "compute", seconds)

    def finish_step(self, work, tokens, now_s):
        """Takes one token for each work that samples, in order. Gives (sequence, token) pairs; finished sequences leave the pool."""
        produced, given = [], iter(tokens)
        for w in work:
            w.seq.computed = w.start + w.count
            if not w.samples:
                continue
            token = next(given)
            w.seq.tokens.append(token)
            if w.seq.first_s is None:
                w.seq.first_s = now_s
                w.seq.booked_ttft = dict(w.seq.booked)
            produced.append((w.seq, token))
        for seq in [s for s in self.running if s.done]:
            self.running.remove(seq)
            self._release(seq)
        return produced
