/** Types of events whose words differ from their name on the wire. */
const NAMES: Readonly<Record<string, string>> = {
  "email.delivery_delayed": "Deferred",
  "email.attempt_lost": "Attempt interrupted",
  "webhook.test": "Test event",
}

/** Says the type of an event in words: `email.bounced` is "Bounced", `domain.verified` is "Domain verified". */
export const eventName = (type: string): string => {
  const words =
    NAMES[type] ??
    type
      .replace(/^email\./u, "")
      .replaceAll(/[._]/gu, " ")
      .replace(/^api key/u, "API key")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
