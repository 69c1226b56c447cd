import { AppError } from "../../schemas/error-codes.js";

const MAX_NAME = 200;

const RULES: readonly (readonly [(id: string) => boolean, string])[] = [
  [(id) => id.trim() === "", "is empty"],
  [(id) => id.length > MAX_NAME, `is longer than ${MAX_NAME} characters`],
  [(id) => /\p{Cc}/u.test(id), "holds control characters"],
  [(id) => id !== id.trim(), "begins or ends with a blank"],
  [(id) => /[/\\]/.test(id), "holds a slash"],
  [(id) => id.startsWith("-"), "begins with a dash"],
];

/** A run's name is typed on command lines and becomes part of file names. @throws AppError USAGE for one that cannot be. */
export function checkRunName(id: string): void {
  const wrong = RULES.find(([breaks]) => breaks(id));
  if (wrong) throw new AppError("USAGE", `a run's name ${wrong[1]}`, { mend: "give a short name such as `before-upgrade`" });
}
