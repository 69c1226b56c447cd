import { type AgentConfig, DEFAULT_AGENT_CONFIG } from "../../schemas/agent-config.js";

/**
 * The configuration of a file, or the defaults without one. The schema, and with it zod, is loaded only for a file.
 * @throws AppError CONFIG_INVALID
 */
export async function loadAgentConfig(file: string | undefined, collectorNames: readonly string[]): Promise<AgentConfig> {
  if (file === undefined) return DEFAULT_AGENT_CONFIG;
  const { readConfigFile } = await import("../platform/config-file.js");
  const { agentConfigSchema } = await import("../../schemas/config.js");
  return readConfigFile(file, agentConfigSchema(collectorNames));
}
