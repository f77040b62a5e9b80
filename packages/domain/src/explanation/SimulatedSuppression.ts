/**
 * Addresses at names of RFC 2606, under which there is no mailbox. Live mail is simulated at these alone, test mail at all.
 */
export const RESERVED = /@(?:[^@]+\.)?(?:test|example|invalid|localhost|example\.(?:com|net|org))$/iu
const NAME = /^suppressed(\+[^@]*)?@/iu

/** Says that the name of a recipient simulates a suppression; undefined if it has another name. */
export const textOf = (address: string, livemode: boolean): string | undefined => {
  const found = !livemode || RESERVED.test(address) ? NAME.exec(address) : null
  return found === null
    ? undefined
    : `Simulated: an address that begins with suppressed${found[1] === undefined ? "@" : "+"} counts as suppressed.`
}
