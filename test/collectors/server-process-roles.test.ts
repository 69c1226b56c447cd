import { describe, expect, it } from "vitest";
import { matchServerRole } from "../../collectors/parts/server-process-roles.js";

const SECRET = "sk-very-secret";

describe("roles of server processes", () => {
  it.each([
    ["vllm serve acme/m --port 8100", "vllm", "api_server", 8100, "acme/m"],
    ["/usr/bin/python3 /usr/local/bin/vllm serve acme/m", "vllm", "api_server", 8000, "acme/m"],
    ["vllm serve --model acme/m --served-model-name chat", "vllm", "api_server", 8000, "chat"],
    ["python3 -m vllm.entrypoints.openai.api_server --model=/models/m", "vllm", "api_server", 8000, "/models/m"],
    ["python -u -X dev -m vllm.entrypoints.openai.api_server", "vllm", "api_server", 8000, null],
    ["python3.12 /opt/vllm/entrypoints/openai/api_server.py --port=81", "vllm", "api_server", 81, null],
    ["VLLM::EngineCore", "vllm", "engine", null, null],
    ["VLLM::EngineCore_DP0", "vllm", "engine", null, null],
    ["VLLM::DPEngineCore", "vllm", "engine", null, null],
    ["VLLM::Worker_DP0_TP0", "vllm", "worker", null, null],
    ["VLLM::APIServer_0", "vllm", "api_server", null, null],
    ["VLLM::DPCoordinator", "vllm", "other", null, null],
    ["ray::RayWorkerWrapper.execute_method", "vllm", "worker", null, null],
    ["python3 -m sglang.launch_server --model-path m --port=31000", "sglang", "api_server", 31_000, "m"],
    ["sglang serve --model-path m", "sglang", "api_server", 30_000, "m"],
    ["sglang::scheduler_DP0_TP1_PP0", "sglang", "scheduler", null, null],
    ["sglang::detokenizer", "sglang", "detokenizer", null, null],
    ["sglang::tokenizer_worker_1", "sglang", "tokenizer", null, null],
    ["sglang::data_parallel_controller", "sglang", "other", null, null],
    ["text-generation-router --port 80 --tokenizer-name m", "tgi", "api_server", 80, null],
    ["python3 /usr/bin/text-generation-server serve acme/m --sharded", "tgi", "worker", null, "acme/m"],
    ["text-generation-launcher --model-id acme/m", "tgi", "other", null, "acme/m"],
    ["tritonserver --model-repository=/m --metrics-port=9002", "triton", "api_server", 9002, null],
    ["triton_python_backend_stub /m/preprocessing/1/model.py", "triton", "tokenizer", null, null],
    ["triton_python_backend_stub /m/postprocessing/1/model.py", "triton", "detokenizer", null, null],
    ["triton_python_backend_stub /m/vllm/1/model.py", "triton", "worker", null, null],
    ["trtllm-serve acme/m", "trtllm", "api_server", 8000, "acme/m"],
    ["trtllm-serve serve acme/m", "trtllm", "api_server", 8000, "acme/m"],
    ["python3 -m dynamo.frontend --http-port 8123", "dynamo", "api_server", 8123, null],
    ["python3 -m dynamo.vllm --model m", "dynamo", "engine", null, "m"],
    ["/app/llama-server -m /models/q.gguf --port 8081", "llamacpp", "api_server", 8081, "/models/q.gguf"],
    ["lmdeploy serve api_server acme/m --server-port 23334", "lmdeploy", "api_server", 23_334, "acme/m"],
    ["ollama serve", "ollama", "api_server", 11_434, null],
    ["ollama runner --model /blob --port 41000", "ollama", "engine", null, "/blob"],
  ])("%s", (line, engine, role, port, model) => {
    expect(matchServerRole([...line.split(" "), "--api-key", SECRET, `--hf-token=${SECRET}`])).toMatchObject({ engine, role, port, model });
  });

  it.each([
    ["sh", "-c", "vllm serve acme/m"],
    ["grep", "vllm", "serve"],
    ["vim", "/opt/vllm/entrypoints/openai/api_server.py"],
    ["tini", "--", "vllm", "serve", "m"],
    ["timeout", "100", "vllm", "serve", "m"],
    ["vllm", "bench", "serve"],
    ["python3", "-c", "import vllm"],
    ["python3"],
    ["python3", "api_server.py"],
    [""],
  ])("is not a server: %s", (...args) => {
    expect(matchServerRole(args)).toBeNull();
  });

  it("keeps no argument but port and model, and no credentials in a model's address", () => {
    const match = matchServerRole([
      "vllm",
      "serve",
      `https://user:${SECRET}@host/acme/m?token=${SECRET}`,
      "--api-key",
      SECRET,
      "--port",
      "x",
    ]);
    expect(match).toEqual({ engine: "vllm", role: "api_server", name: "vllm", port: 8000, model: "m" });
    expect(JSON.stringify(matchServerRole([`VLLM::EngineCore --api-key ${SECRET}`]))).not.toContain(SECRET);
  });
});
