/** The values that are known: missing is not zero, so null ones leave no column. */
export const presentValues = (values: Readonly<Record<string, number | null | undefined>>): Record<string, number> => {
  const present: Record<string, number> = {};
  for (const [column, value] of Object.entries(values)) if (value != null && Number.isFinite(value)) present[column] = value;
  return present;
};
