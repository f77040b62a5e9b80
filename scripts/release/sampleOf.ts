/** Returns the first program of a README. */
export const sampleOf = (readme: string): string => {
  const [, code] = /```(?:js|tsx?)\n([^]*?)\n```/u.exec(readme) ?? []
  if (code === undefined) throw new Error("the README has no program")
  return code
}
