"""Which requests were slow because of which fault, by comparison with the baseline's twin of each.

A request is a spike when its TTFT or E2E rose by at least 100 ms and by half of its twin's; undisturbed when both rose by less than 50 ms and a
fifth; else it is left out (null). The classes that count as right: the one that most of the excess was booked on, and the fault's own. What
the server did not see of a rise (the request had not been read yet) is the front end's: there is only loopback in between.
"""
import json
from statistics import median

CLASSES = ("compute", "bandwidth", "kv_cache", "cpu_tokenization")
RISE_MS, RISE_SHARE = 100.0, 0.5
QUIET_MS, QUIET_SHARE = 50.0, 0.2
MAJORITY = 0.5


def read_records(path):
    out = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            out[record["metadata"]["x_request_id"]] = record
    return out


def latencies(record):
    metrics = record["metrics"]
    if "request_latency" not in metrics:
        return None
    return {"ttft": metrics["time_to_first_token"]["value"], "e2e": metrics["request_latency"]["value"]}


def excess_class(excess_ms, booked, twin_booked):
    """The class with the majority of the excess, or None."""
    share = {c: 1000 * (booked.get(c, 0.0) - twin_booked.get(c, 0.0)) for c in CLASSES}
    unseen = excess_ms - sum(share.values())
    share["cpu_tokenization"] += max(0.0, unseen)
    best = max(CLASSES, key=lambda c: share[c])
    return best if share[best] >= MAJORITY * excess_ms else None


def judge(request_id, fault_class, own, twin, book, twin_id):
    """One label. `own`, `twin`: latencies in ms, or None for a request that failed."""
    label = {"request_id": request_id, "spike": None, "ttft": None, "e2e": None, "excess_ms": None}
    if own is None or twin is None:
        return label
    excess = {m: own[m] - twin[m] for m in ("ttft", "e2e")}
    label["excess_ms"] = {m: round(value, 3) for m, value in excess.items()}
    rose = [m for m in excess if excess[m] >= RISE_MS and excess[m] >= RISE_SHARE * twin[m]]
    if not rose:
        quiet = all(excess[m] < QUIET_MS and excess[m] < max(5.0, QUIET_SHARE * twin[m]) for m in excess)
        label["spike"] = False if quiet else None
        return label
    label["spike"] = True
    if fault_class is None:
        return label
    for m in rose:
        found = excess_class(excess[m], book.get(request_id, {}).get(m, {}), book.get(twin_id, {}).get(m, {}))
        if found:
            label[m] = [found] if found == fault_class else [found, fault_class]
    return label


def labels(records, book, windows):
    """`windows`: the regimes as they were, with start_us, end_us, class, cause. Requests that a fault added have no label."""
    out, quiet = [], []
    for window in windows:
        prefix = f"{window['name']}-b-"
        for request_id in sorted(i for i in records if i.startswith(prefix)):
            twin_id = "baseline-b-" + request_id[len(prefix) :]
            if window["name"] == "baseline":
                out.append({"request_id": request_id, "spike": False, "ttft": None, "e2e": None, "excess_ms": None})
                continue
            own, twin = latencies(records[request_id]), latencies(records[twin_id]) if twin_id in records else None
            started_us = records[request_id]["metadata"]["request_start_ns"] // 1000
            ended_us = records[request_id]["metadata"]["request_end_ns"] // 1000
            if own and twin and ended_us < window["start_us"]:
                quiet.append(abs(own["e2e"] - twin["e2e"]))
            touched = started_us <= window["end_us"] + window["recover_us"] and ended_us >= window["start_us"]
            label = judge(request_id, window["class"] if touched else None, own, twin, book, twin_id)
            label["fault"] = window["name"] if touched else None
            out.append(label)
    noise = {"requests": len(quiet), "median_ms": round(median(quiet), 3), "max_ms": round(max(quiet), 3)} if quiet else None
    return {"requests": out, "twin_noise_before_faults": noise}
