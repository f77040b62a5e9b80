/** Joins class names and skips those that are false or undefined. */
export const cx = (...names: ReadonlyArray<string | false | undefined>): string =>
  names.filter((name) => typeof name === "string" && name !== "").join(" ")
