import { distance } from "@waybill/domain/values/nearestName"

/** Shortest word that may have a mistyped letter. */
const MIN_MISTYPED_CHARS = 4
/** Longest word that is compared letter by letter, because that takes quadratic time. */
const MAX_COMPARED_CHARS = 32

/** Whether the words of a query are in a name, the longer ones with up to one edited letter: "webhok" finds "Webhooks". */
export const matchesWords = (name: string, query: string): boolean => {
  const words = wordsOf(name)
  return wordsOf(query).every(
    (part) => name.toLowerCase().includes(part) || words.some((word) => resembles(word, part)),
  )
}

const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "")

/** Whether a word begins as the part does, but for one letter. */
const resembles = (word: string, part: string): boolean =>
  part.length >= MIN_MISTYPED_CHARS &&
  part.length <= MAX_COMPARED_CHARS &&
  [-1, 0, 1].some((more) => distance(part, word.slice(0, part.length + more)) <= 1)
