import tseslint from "typescript-eslint";

// Biome formats and lints; this adds only the rules that need types.
export default [
  { ignores: ["dist/**", "node_modules/**", "schemas/proto/gen/**", "coverage/**", "**/*.mjs", "**/*.cjs", "vitest.config.ts"] },
  {
    files: ["**/*.ts"],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
];
