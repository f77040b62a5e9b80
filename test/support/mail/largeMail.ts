const HOST = `${"d".repeat(60)}.${"e".repeat(60)}.${"f".repeat(40)}.example.org`
const NAME = "N".repeat(250)

/** Recipients of one field, as long as the service takes them: some 500 characters each. */
export const largeMailboxes = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, nth) => ({ name: NAME, address: `${prefix}${nth}.${"l".repeat(40)}@${HOST}` }))

/** The fields of a message with as many recipients as a plan allows, 50 KB of them. */
export const largeRecipients = () => ({ to: largeMailboxes("to", 50), cc: largeMailboxes("cc", 50) })
