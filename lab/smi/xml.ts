import { DRIVER_VERSION } from "../dcgm-families.js";
import type { SmiGpu } from "./query-fields.js";

const active = (mask: number, bit: number): string => ((mask & bit) !== 0 ? "Active" : "Not Active");
const REASONS: readonly (readonly [string, number])[] = [
  ["gpu_idle", 0x1],
  ["applications_clocks_setting", 0x2],
  ["sw_power_cap", 0x4],
  ["hw_slowdown", 0x8],
  ["hw_thermal_slowdown", 0x40],
  ["hw_power_brake_slowdown", 0x80],
  ["sync_boost", 0x10],
  ["sw_thermal_slowdown", 0x20],
];

type Leaf = readonly [string, string | readonly Leaf[]];

function element([name, value]: Leaf, indent: string): string {
  if (typeof value === "string") return `${indent}<${name}>${value}</${name}>\n`;
  return `${indent}<${name}>\n${value.map((v) => element(v, `${indent}\t`)).join("")}${indent}</${name}>\n`;
}

function gpuTree(gpu: SmiGpu): readonly Leaf[] {
  const r = gpu.reading;
  const mib = (n: number): string => `${n} MiB`;
  const watt = (n: number): string => `${n.toFixed(2)} W`;
  return [
    ["product_name", gpu.spec.name],
    ["product_brand", "NVIDIA"],
    ["persistence_mode", "Enabled"],
    [
      "mig_mode",
      [
        ["current_mig", "Disabled"],
        ["pending_mig", "Disabled"],
      ],
    ],
    ["mig_devices", "None"],
    ["serial", "N/A"],
    ["uuid", gpu.uuid],
    ["minor_number", String(gpu.index)],
    [
      "pci",
      [
        ["pci_bus_id", gpu.bus_id],
        [
          "pci_gpu_link_info",
          [
            [
              "pcie_gen",
              [
                ["max_link_gen", String(gpu.spec.pcie_gen)],
                ["current_link_gen", String(gpu.spec.pcie_gen)],
              ],
            ],
            [
              "link_widths",
              [
                ["max_link_width", "16x"],
                ["current_link_width", "16x"],
              ],
            ],
          ],
        ],
        ["replay_counter", "0"],
        ["tx_util", `${Math.round(r.pcie_tx / 1024)} KB/s`],
        ["rx_util", `${Math.round(r.pcie_rx / 1024)} KB/s`],
      ],
    ],
    ["performance_state", "P0"],
    ["clocks_event_reasons", REASONS.map(([n, bit]) => [`clocks_event_reason_${n}`, active(r.clocks_event_mask, bit)] as const)],
    [
      "fb_memory_usage",
      [
        ["total", mib(gpu.spec.fb_mib)],
        ["reserved", mib(r.fb_reserved_mib)],
        ["used", mib(r.fb_used_mib)],
        ["free", mib(r.fb_free_mib)],
      ],
    ],
    [
      "utilization",
      [
        ["gpu_util", `${r.gpu_util} %`],
        ["memory_util", `${r.mem_util} %`],
      ],
    ],
    [
      "ecc_errors",
      [
        [
          "volatile",
          [
            ["dram_correctable", "0"],
            ["dram_uncorrectable", "0"],
          ],
        ],
      ],
    ],
    [
      "temperature",
      [
        ["gpu_temp", `${r.temp_c} C`],
        ["memory_temp", `${r.mem_temp_c} C`],
      ],
    ],
    [
      "gpu_power_readings",
      [
        ["power_state", "P0"],
        ["average_power_draw", watt(r.power_w)],
        ["instant_power_draw", watt(r.power_instant_w)],
        ["current_power_limit", watt(gpu.spec.tdp_w)],
        ["default_power_limit", watt(gpu.spec.tdp_w)],
        ["max_power_limit", watt(gpu.spec.tdp_w)],
      ],
    ],
    [
      "clocks",
      [
        ["sm_clock", `${r.sm_clock_mhz} MHz`],
        ["mem_clock", `${r.mem_clock_mhz} MHz`],
      ],
    ],
    [
      "max_clocks",
      [
        ["sm_clock", `${gpu.spec.sm_clock_mhz} MHz`],
        ["mem_clock", `${gpu.spec.mem_clock_mhz} MHz`],
      ],
    ],
    ["processes", []],
  ];
}

/** `-q -x`. */
export function queryXml(gpus: readonly SmiGpu[], wall_ms: number): string {
  const when = new Date(wall_ms).toString().split(" ");
  const head = [
    '<?xml version="1.0" ?>',
    '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">',
    "<nvidia_smi_log>",
    `\t<timestamp>${when[0]} ${when[1]} ${when[2]} ${when[4]} ${when[3]}</timestamp>`,
    `\t<driver_version>${DRIVER_VERSION}</driver_version>`,
    "\t<cuda_version>13.0</cuda_version>",
    `\t<attached_gpus>${gpus.length}</attached_gpus>`,
  ];
  const body = gpus.map(
    (gpu) =>
      `\t<gpu id="${gpu.bus_id}">\n${gpuTree(gpu)
        .map((leaf) => element(leaf, "\t\t"))
        .join("")}\t</gpu>\n`,
  );
  return `${head.join("\n")}\n${body.join("")}</nvidia_smi_log>\n`;
}
