/** Units of a duration, with their letters in ISO 8601. Those with a T follow it. */
const UNITS: ReadonlyArray<readonly [words: RegExp, letter: string]> = [
  [/^(?:y|years?)$/u, "Y"],
  [/^months?$/u, "M"],
  [/^(?:w|weeks?)$/u, "W"],
  [/^(?:d|days?)$/u, "D"],
  [/^(?:h|hours?)$/u, "TH"],
  [/^(?:m|min|minutes?)$/u, "TM"],
  [/^(?:s|sec|seconds?)$/u, "TS"],
]
const PART = /(\d{1,9})\s*([a-z]+)[\s,]*(?:and\s+)?/uy

/** Returns `3 days`, `1h 30m` and the like as ISO 8601 writes them. Text that ISO 8601 wrote is returned as it is. */
export const isoDuration = (text: string): string => {
  if (/^P[\dTYMWDHS.,]+$/u.test(text)) return text
  const refuse = (): never => {
    throw new Error(`"${text}" is not a duration such as "3 days", "1h 30m" or "P3D".`)
  }
  const amounts = new Map<string, number>()
  const source = text.trim().toLowerCase()
  PART.lastIndex = 0
  for (let at = 0; at < source.length; at = PART.lastIndex) {
    const [, amount = "", word = ""] = PART.exec(source) ?? refuse()
    const [, letter] = UNITS.find(([words]) => words.test(word)) ?? refuse()
    amounts.set(letter, (amounts.get(letter) ?? 0) + Number(amount))
  }
  if (amounts.size === 0) refuse()
  const letters = UNITS.flatMap(([, letter]) => (amounts.has(letter) ? [letter] : []))
  const write = (isTime: boolean) =>
    letters
      .filter((letter) => letter.startsWith("T") === isTime)
      .map((letter) => `${amounts.get(letter)}${letter.at(-1)}`)
      .join("")
  const time = write(true)
  return `P${write(false)}${time === "" ? "" : `T${time}`}`
}
