// Writes rows without end and reports each committed flush: the number of rows that must survive a kill.
import { openStore } from "../../src/store/open-store.js";
import { entity, request, SECOND, sample, source, T0 } from "./store-rows.js";

const store = openStore(process.argv[2]!, { mode: "write", flushIntervalMs: 10 });
const gpu = entity("gpu", "GPU-1");
let given = 0;
let flushes = 0;
setInterval(() => {
  const health = store.sink.health();
  // Nothing is buffered right after a flush: all that was given is committed.
  if (health.flushes > flushes && health.bufferedRows === 0) process.stdout.write(`${given}\n`);
  flushes = health.flushes;
  for (let i = 0; i < 50; i++, given++) {
    store.sink.samples(source("s"), [sample(gpu, T0 + given * SECOND, { power_w: given })]);
    store.sink.requests(source("otlp"), [request(`r${given}`, T0 + given * SECOND)]);
  }
}, 1);
