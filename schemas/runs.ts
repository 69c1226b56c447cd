/** A named interval of time and what was under test in it. */
export interface Run {
  readonly id: string;
  /** Null while it has neither been started nor imported into. */
  readonly start_us: number | null;
  readonly end_us: number | null;
  readonly created_us: number;
  readonly manifest: Readonly<Record<string, string>>;
}

/** Manifest keys in use: model, quantization, engine, engine_version, gpu_model, gpu_count, gpu_topology, driver_version, cuda_version, image, tensor_parallel, max_num_seqs, max_model_len; from load generators request_rate, max_concurrency, load_generator, scenario, system_under_test, client_limited; from nccl-tests nccl_bus_bandwidth_gbs, nccl_ranks. */
export type ManifestFacts = Readonly<Record<string, string>>;
