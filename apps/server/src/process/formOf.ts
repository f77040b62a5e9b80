/** Says in words what a schema or a parameter expected, from an error that may have several lines. */
export const formOf = (expected: string): string => {
  const [first = ""] = expected.replace(/^Schema validation failed: /u, "").split("\n")
  const form = first.replace(/^Expected:? /u, "").replace(/[.:\s]+$/u, "")
  if (form.includes(" | ")) return `one of ${form.replaceAll('"', "").replaceAll(" | ", ", ")}`
  return form.replace("a string representing a finite number", "a number").replace("an integer", "a whole number")
}
