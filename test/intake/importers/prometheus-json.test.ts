import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto, temporaryFolder } from "../run-import.js";

it("query_range: series as exporters name them, NaN unknown, expressions refused", async () => {
  const { sink, outcome } = await importInto([path.join(FIXTURES, "prometheus-json/3/query_range.json")]);
  expect(outcome.files[0]).toMatchObject({ format: "prometheus-json", samples: 4, rejected: { no_name: 1, not_finite: 1 } });
  expect(outcome.files[0]!.warnings.join()).toContain("1 results have no name");
  expect(sink.sampleRows.map(({ source, row }) => [source.name, row.entity.key, row.ts_us, row.values])).toEqual([
    ["dcgm-exporter", "GPU-1", 1_788_436_000_781_000, { power_w: 412.5 }],
    ["dcgm-exporter", "GPU-1", 1_788_436_015_781_000, { power_w: 400 }],
    ["vllm", "vllm:10.0.0.5:8000/0", 1_788_436_000_000_000, { waiting: 3 }],
    ["vllm", "vllm:10.0.0.5:8000/0", 1_788_436_015_000_000, { waiting: 7 }],
  ]);
});

it("instant queries, several answers in one file, a failed query", async () => {
  const { folder, remove } = temporaryFolder();
  try {
    const at = path.join(folder, "answers.jsonl");
    const vector =
      '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"tgi_queue_size","instance":"a:80"},"value":[1788436000.5,"2"]}]}}';
    fs.writeFileSync(at, `${vector}\n{"status":"error","errorType":"timeout","error":"query timed out"}\n`);
    const { sink, outcome } = await importInto([at]);
    expect(outcome.files[0]).toMatchObject({ samples: 1, rejected: { query_failed: 1 } });
    expect(sink.sampleRows[0]!.row).toMatchObject({ ts_us: 1_788_436_000_500_000, values: { waiting: 2 } });
  } finally {
    remove();
  }
});
