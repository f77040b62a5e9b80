/**
 * Letters that the ids of messages of one span share: `msg_` and seven of time, which change every 33 seconds. A key
 * with little mail leads to few other messages, and a key with much mail has few spans.
 */
export const LETTERS = "msg_".length + 7

/** Returns the span of an id. A bound that is no id is its own span. */
export const of = (id: string): string => id.slice(0, LETTERS)
