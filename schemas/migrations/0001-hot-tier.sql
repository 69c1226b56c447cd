-- Version 1: the hot tier. Samples are rows keyed by time; what repeats (entities, sources, label sets) is an integer id
-- into a dictionary table. Times are integer microseconds since the Unix epoch, UTC; a missing value is NULL.

CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  node TEXT NOT NULL,
  run TEXT,                             -- NULL: the live agent
  interval_ms REAL,
  window_ms REAL,
  lag_ms REAL,
  first_us INTEGER,                     -- extent of all its samples, series and request starts
  last_us INTEGER,
  longest_us INTEGER NOT NULL DEFAULT 0 -- longest finished request: bounds the search by end time
) STRICT;
CREATE UNIQUE INDEX source_identity ON source (name, node, coalesce(run, ''));
CREATE INDEX source_run ON source (run);

CREATE TABLE label_set (
  id INTEGER PRIMARY KEY,
  labels TEXT NOT NULL UNIQUE           -- JSON object, keys sorted
) STRICT;

CREATE TABLE entity (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  node TEXT NOT NULL,
  key TEXT NOT NULL,
  UNIQUE (kind, node, key)
) STRICT;

-- What a source said of an entity from a time on. Imports keep one merged row with since_us 0.
CREATE TABLE entity_label (
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  since_us INTEGER NOT NULL,
  label_set INTEGER NOT NULL,
  PRIMARY KEY (entity, source, since_us)
) STRICT, WITHOUT ROWID;

CREATE TABLE gpu_sample (
  ts_us INTEGER NOT NULL,
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  gr_engine_active_ratio REAL,
  sm_active_ratio REAL,
  sm_occupancy_ratio REAL,
  tensor_active_ratio REAL,
  dram_active_ratio REAL,
  fp64_active_ratio REAL,
  fp32_active_ratio REAL,
  fp16_active_ratio REAL,
  gpu_util_ratio REAL,
  mem_util_ratio REAL,
  power_w REAL,
  power_instant_w REAL,
  power_limit_w REAL,
  power_default_limit_w REAL,
  energy_j_total REAL,
  sm_clock_mhz REAL,
  sm_clock_max_mhz REAL,
  mem_clock_mhz REAL,
  temp_c REAL,
  mem_temp_c REAL,
  fb_used_bytes REAL,
  fb_free_bytes REAL,
  fb_reserved_bytes REAL,
  fb_total_bytes REAL,
  pcie_tx_bytes_per_s REAL,
  pcie_rx_bytes_per_s REAL,
  nvlink_tx_bytes_per_s REAL,
  nvlink_rx_bytes_per_s REAL,
  nvlink_total_bytes_per_s REAL,
  nvlink_tx_bytes_total REAL,
  nvlink_rx_bytes_total REAL,
  clocks_event_mask REAL,
  throttle_power_s_total REAL,
  throttle_thermal_s_total REAL,
  xid REAL,
  pcie_replay_total REAL,
  pcie_link_gen REAL,
  pcie_link_gen_max REAL,
  pcie_link_width REAL,
  pcie_link_width_max REAL,
  ecc_uncorrected_total REAL,
  row_remap_uncorrectable_total REAL,
  row_remap_correctable_total REAL,
  row_remap_failed REAL,
  pstate REAL,
  PRIMARY KEY (ts_us, entity, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE host_sample (
  ts_us INTEGER NOT NULL,
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  cpu_user_s_total REAL,
  cpu_system_s_total REAL,
  cpu_idle_s_total REAL,
  cpu_iowait_s_total REAL,
  cpu_steal_s_total REAL,
  cpu_count REAL,
  load1 REAL,
  mem_total_bytes REAL,
  mem_available_bytes REAL,
  swap_used_bytes REAL,
  swap_in_pages_total REAL,
  swap_out_pages_total REAL,
  major_faults_total REAL,
  oom_kills_total REAL,
  context_switches_total REAL,
  psi_cpu_some_s_total REAL,
  psi_mem_some_s_total REAL,
  psi_mem_full_s_total REAL,
  psi_io_some_s_total REAL,
  psi_io_full_s_total REAL,
  disk_read_bytes_total REAL,
  disk_written_bytes_total REAL,
  disk_io_s_total REAL,
  tcp_out_segs_total REAL,
  tcp_retrans_segs_total REAL,
  tcp_listen_overflows_total REAL,
  tcp_listen_drops_total REAL,
  tcp_established REAL,
  PRIMARY KEY (ts_us, entity, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE process_sample (
  ts_us INTEGER NOT NULL,
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  cpu_s_total REAL,
  cpu_limit_cores REAL,
  threads REAL,
  rss_bytes REAL,
  hottest_thread_cores REAL,
  hottest_thread_tid REAL,
  run_wait_s_total REAL,
  involuntary_switches_total REAL,
  major_faults_total REAL,
  cfs_periods_total REAL,
  cfs_throttled_periods_total REAL,
  cfs_throttled_s_total REAL,
  psi_cpu_some_s_total REAL,
  psi_mem_some_s_total REAL,
  psi_io_some_s_total REAL,
  mem_bytes REAL,
  mem_limit_bytes REAL,
  oom_kills_total REAL,
  start_time_s REAL,
  PRIMARY KEY (ts_us, entity, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE link_sample (
  ts_us INTEGER NOT NULL,
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  rx_bytes_total REAL,
  tx_bytes_total REAL,
  speed_bytes_per_s REAL,
  up REAL,
  rx_errors_total REAL,
  tx_errors_total REAL,
  rx_drops_total REAL,
  tx_drops_total REAL,
  xmit_wait_ticks_total REAL,
  xmit_wait_ratio REAL,
  cnp_handled_total REAL,
  ecn_marked_total REAL,
  out_of_sequence_total REAL,
  retries_total REAL,
  link_downed_total REAL,
  PRIMARY KEY (ts_us, entity, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE server_sample (
  ts_us INTEGER NOT NULL,
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  running REAL,
  waiting REAL,
  swapped REAL,
  kv_usage_ratio REAL,
  kv_capacity_tokens REAL,
  max_running REAL,
  preemptions_total REAL,
  retracted REAL,
  prompt_tokens_total REAL,
  generation_tokens_total REAL,
  prompt_tokens_cached_total REAL,
  prefix_queries_total REAL,
  prefix_hits_total REAL,
  prefix_hit_ratio REAL,
  success_total REAL,
  aborted_total REAL,
  ttft_s_sum_total REAL,
  ttft_count_total REAL,
  itl_s_sum_total REAL,
  itl_count_total REAL,
  e2e_s_sum_total REAL,
  e2e_count_total REAL,
  queue_s_sum_total REAL,
  queue_count_total REAL,
  prefill_s_sum_total REAL,
  prefill_count_total REAL,
  decode_s_sum_total REAL,
  decode_count_total REAL,
  iteration_tokens_sum_total REAL,
  iteration_tokens_count_total REAL,
  gpu_execution_s_total REAL,
  spec_draft_tokens_total REAL,
  spec_accepted_tokens_total REAL,
  estimated_flops_total REAL,
  estimated_read_bytes_total REAL,
  estimated_write_bytes_total REAL,
  kv_transfer_s_sum_total REAL,
  kv_transfer_bytes_total REAL,
  process_cpu_s_total REAL,
  process_start_time_s REAL,
  scrape_duration_s REAL,
  PRIMARY KEY (ts_us, entity, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  metric TEXT NOT NULL,
  label_set INTEGER NOT NULL,
  type TEXT NOT NULL,
  UNIQUE (source, entity, metric, label_set)
) STRICT;

CREATE TABLE series_sample (
  ts_us INTEGER NOT NULL,
  series INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (ts_us, series)
) STRICT, WITHOUT ROWID;

-- One observer's view of one request, keyed by arrival. The same span, or without a span the same id and start, is one row.
CREATE TABLE request (
  start_us INTEGER NOT NULL,
  source INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  span_key TEXT NOT NULL,
  join_id TEXT NOT NULL,
  view TEXT NOT NULL,
  server INTEGER NOT NULL,              -- label_set
  model TEXT,
  scheduled_us INTEGER,
  first_token_us INTEGER,
  end_us INTEGER,
  ttft_ms REAL,
  e2e_ms REAL,
  tokenize_ms REAL,
  queue_ms REAL,
  prefill_ms REAL,
  decode_ms REAL,
  transfer_ms REAL,
  input_tokens REAL,
  output_tokens REAL,
  cached_tokens REAL,
  max_tokens REAL,
  status TEXT NOT NULL,
  error TEXT,
  warmup INTEGER NOT NULL,
  conversation_id TEXT,
  turn_index INTEGER,
  route TEXT,
  task_type TEXT,
  gaps_f32 BLOB,                        -- gaps between output chunks, ms, Float32 little-endian
  PRIMARY KEY (start_us, source, request_id, span_key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX request_span ON request (source, span_key) WHERE span_key <> '';

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  start_us INTEGER,
  end_us INTEGER,
  created_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE manifest (
  run TEXT NOT NULL,                    -- '': what the live agent knows now
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE mark (
  ts_us INTEGER NOT NULL,
  node TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  run TEXT NOT NULL,                    -- '': of no run
  PRIMARY KEY (ts_us, node, kind, text, run)
) STRICT, WITHOUT ROWID;

-- Refused rows. Live sources add up; an import replaces what it said of the same origin before.
CREATE TABLE rejected (
  source INTEGER NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (source, origin, reason)
) STRICT, WITHOUT ROWID;

-- What a report found. `run` is the report's run id: a run's name, or FROM/TO of a range.
CREATE TABLE episode (
  run TEXT NOT NULL,
  id TEXT NOT NULL,
  start_us INTEGER NOT NULL,
  end_us INTEGER NOT NULL,
  metric TEXT NOT NULL,
  class TEXT NOT NULL,
  cause TEXT,
  driver TEXT,
  confidence REAL,
  requests INTEGER NOT NULL,
  excess_ms REAL NOT NULL,
  body TEXT NOT NULL,                   -- the whole episode as JSON, as in the report
  PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE spike (
  run TEXT NOT NULL,
  request_id TEXT NOT NULL,
  metric TEXT NOT NULL,
  start_us INTEGER NOT NULL,
  end_us INTEGER NOT NULL,
  observed_ms REAL NOT NULL,
  expected_ms REAL NOT NULL,
  excess_ms REAL NOT NULL,
  class TEXT NOT NULL,
  cause TEXT,
  confidence REAL,
  episode TEXT,
  censored INTEGER NOT NULL,
  PRIMARY KEY (run, start_us, request_id, metric)
) STRICT, WITHOUT ROWID;

-- Readable views for any SQLite tool.
CREATE VIEW entities AS
SELECT e.id, e.kind, e.node, e.key, s.name AS source, s.run,
  (SELECT ls.labels FROM entity_label el JOIN label_set ls ON ls.id = el.label_set
    WHERE el.entity = e.id AND el.source = s.id ORDER BY el.since_us DESC LIMIT 1) AS labels
FROM (SELECT DISTINCT entity, source FROM entity_label) es JOIN entity e ON e.id = es.entity JOIN source s ON s.id = es.source;

CREATE VIEW gpu AS
SELECT strftime('%Y-%m-%dT%H:%M:%S', t.ts_us / 1000000, 'unixepoch') || printf('.%06dZ', t.ts_us % 1000000) AS time,
  t.ts_us, e.node, e.key AS uuid, s.name AS source, s.run, t.epoch,
  t.gr_engine_active_ratio,
  t.sm_active_ratio,
  t.sm_occupancy_ratio,
  t.tensor_active_ratio,
  t.dram_active_ratio,
  t.fp64_active_ratio,
  t.fp32_active_ratio,
  t.fp16_active_ratio,
  t.gpu_util_ratio,
  t.mem_util_ratio,
  t.power_w,
  t.power_instant_w,
  t.power_limit_w,
  t.power_default_limit_w,
  t.energy_j_total,
  t.sm_clock_mhz,
  t.sm_clock_max_mhz,
  t.mem_clock_mhz,
  t.temp_c,
  t.mem_temp_c,
  t.fb_used_bytes,
  t.fb_free_bytes,
  t.fb_reserved_bytes,
  t.fb_total_bytes,
  t.pcie_tx_bytes_per_s,
  t.pcie_rx_bytes_per_s,
  t.nvlink_tx_bytes_per_s,
  t.nvlink_rx_bytes_per_s,
  t.nvlink_total_bytes_per_s,
  t.nvlink_tx_bytes_total,
  t.nvlink_rx_bytes_total,
  t.clocks_event_mask,
  t.throttle_power_s_total,
  t.throttle_thermal_s_total,
  t.xid,
  t.pcie_replay_total,
  t.pcie_link_gen,
  t.pcie_link_gen_max,
  t.pcie_link_width,
  t.pcie_link_width_max,
  t.ecc_uncorrected_total,
  t.row_remap_uncorrectable_total,
  t.row_remap_correctable_total,
  t.row_remap_failed,
  t.pstate
FROM gpu_sample t JOIN entity e ON e.id = t.entity JOIN source s ON s.id = t.source;

CREATE VIEW host AS
SELECT strftime('%Y-%m-%dT%H:%M:%S', t.ts_us / 1000000, 'unixepoch') || printf('.%06dZ', t.ts_us % 1000000) AS time,
  t.ts_us, e.node, e.key AS host, s.name AS source, s.run, t.epoch,
  t.cpu_user_s_total,
  t.cpu_system_s_total,
  t.cpu_idle_s_total,
  t.cpu_iowait_s_total,
  t.cpu_steal_s_total,
  t.cpu_count,
  t.load1,
  t.mem_total_bytes,
  t.mem_available_bytes,
  t.swap_used_bytes,
  t.swap_in_pages_total,
  t.swap_out_pages_total,
  t.major_faults_total,
  t.oom_kills_total,
  t.context_switches_total,
  t.psi_cpu_some_s_total,
  t.psi_mem_some_s_total,
  t.psi_mem_full_s_total,
  t.psi_io_some_s_total,
  t.psi_io_full_s_total,
  t.disk_read_bytes_total,
  t.disk_written_bytes_total,
  t.disk_io_s_total,
  t.tcp_out_segs_total,
  t.tcp_retrans_segs_total,
  t.tcp_listen_overflows_total,
  t.tcp_listen_drops_total,
  t.tcp_established
FROM host_sample t JOIN entity e ON e.id = t.entity JOIN source s ON s.id = t.source;

CREATE VIEW process AS
SELECT strftime('%Y-%m-%dT%H:%M:%S', t.ts_us / 1000000, 'unixepoch') || printf('.%06dZ', t.ts_us % 1000000) AS time,
  t.ts_us, e.node, e.key AS process, s.name AS source, s.run, t.epoch,
  t.cpu_s_total,
  t.cpu_limit_cores,
  t.threads,
  t.rss_bytes,
  t.hottest_thread_cores,
  t.hottest_thread_tid,
  t.run_wait_s_total,
  t.involuntary_switches_total,
  t.major_faults_total,
  t.cfs_periods_total,
  t.cfs_throttled_periods_total,
  t.cfs_throttled_s_total,
  t.psi_cpu_some_s_total,
  t.psi_mem_some_s_total,
  t.psi_io_some_s_total,
  t.mem_bytes,
  t.mem_limit_bytes,
  t.oom_kills_total,
  t.start_time_s
FROM process_sample t JOIN entity e ON e.id = t.entity JOIN source s ON s.id = t.source;

CREATE VIEW link AS
SELECT strftime('%Y-%m-%dT%H:%M:%S', t.ts_us / 1000000, 'unixepoch') || printf('.%06dZ', t.ts_us % 1000000) AS time,
  t.ts_us, e.node, e.key AS link, s.name AS source, s.run, t.epoch,
  t.rx_bytes_total,
  t.tx_bytes_total,
  t.speed_bytes_per_s,
  t.up,
  t.rx_errors_total,
  t.tx_errors_total,
  t.rx_drops_total,
  t.tx_drops_total,
  t.xmit_wait_ticks_total,
  t.xmit_wait_ratio,
  t.cnp_handled_total,
  t.ecn_marked_total,
  t.out_of_sequence_total,
  t.retries_total,
  t.link_downed_total
FROM link_sample t JOIN entity e ON e.id = t.entity JOIN source s ON s.id = t.source;

CREATE VIEW server AS
SELECT strftime('%Y-%m-%dT%H:%M:%S', t.ts_us / 1000000, 'unixepoch') || printf('.%06dZ', t.ts_us % 1000000) AS time,
  t.ts_us, e.node, e.key AS server, s.name AS source, s.run, t.epoch,
  t.running,
  t.waiting,
  t.swapped,
  t.kv_usage_ratio,
  t.kv_capacity_tokens,
  t.max_running,
  t.preemptions_total,
  t.retracted,
  t.prompt_tokens_total,
  t.generation_tokens_total,
  t.prompt_tokens_cached_total,
  t.prefix_queries_total,
  t.prefix_hits_total,
  t.prefix_hit_ratio,
  t.success_total,
  t.aborted_total,
  t.ttft_s_sum_total,
  t.ttft_count_total,
  t.itl_s_sum_total,
  t.itl_count_total,
  t.e2e_s_sum_total,
  t.e2e_count_total,
  t.queue_s_sum_total,
  t.queue_count_total,
  t.prefill_s_sum_total,
  t.prefill_count_total,
  t.decode_s_sum_total,
  t.decode_count_total,
  t.iteration_tokens_sum_total,
  t.iteration_tokens_count_total,
  t.gpu_execution_s_total,
  t.spec_draft_tokens_total,
  t.spec_accepted_tokens_total,
  t.estimated_flops_total,
  t.estimated_read_bytes_total,
  t.estimated_write_bytes_total,
  t.kv_transfer_s_sum_total,
  t.kv_transfer_bytes_total,
  t.process_cpu_s_total,
  t.process_start_time_s,
  t.scrape_duration_s
FROM server_sample t JOIN entity e ON e.id = t.entity JOIN source s ON s.id = t.source;

CREATE VIEW series_value AS
SELECT strftime('%Y-%m-%dT%H:%M:%S', t.ts_us / 1000000, 'unixepoch') || printf('.%06dZ', t.ts_us % 1000000) AS time,
  t.ts_us, e.kind, e.node, e.key, s.name AS source, s.run, n.metric, ls.labels, n.type, t.epoch, t.value
FROM series_sample t JOIN series n ON n.id = t.series JOIN entity e ON e.id = n.entity JOIN source s ON s.id = n.source
  JOIN label_set ls ON ls.id = n.label_set;

CREATE VIEW requests AS
SELECT strftime('%Y-%m-%dT%H:%M:%S', r.start_us / 1000000, 'unixepoch') || printf('.%06dZ', r.start_us % 1000000) AS time,
  r.start_us, s.name AS source, s.run, r.request_id, r.view, ls.labels AS server, r.model, r.status, r.ttft_ms, r.e2e_ms, r.tokenize_ms,
  r.queue_ms, r.prefill_ms, r.decode_ms, r.transfer_ms, r.input_tokens, r.output_tokens, r.cached_tokens, r.max_tokens, r.end_us,
  r.first_token_us, r.scheduled_us, r.warmup, r.error, r.route, r.task_type, r.conversation_id, r.turn_index, r.join_id, r.span_key,
  length(r.gaps_f32) / 4 AS gaps
FROM request r JOIN source s ON s.id = r.source JOIN label_set ls ON ls.id = r.server;
