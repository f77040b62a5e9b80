/** Names under which there is no mailbox. Their simulator has these addresses; that of test mail has them everywhere. */
const RESERVED = /@(?:[^@]+\.)?(?:test|example|invalid|localhost)$/iu
const NAME = /^suppressed(\+[^@]*)?@/iu

/** Says that the name of a recipient simulates a suppression; undefined if it has another name. */
export const textOf = (address: string, livemode: boolean): string | undefined => {
  const found = !livemode || RESERVED.test(address) ? NAME.exec(address) : null
  return found === null
    ? undefined
    : `Simulated: an address that begins with suppressed${found[1] === undefined ? "@" : "+"} counts as suppressed.`
}
