/** Names of the transports, as people write and read them. The last one is the former name of the first. */
export const NAMES = ["sandbox", "relay", "direct", "nodemailer", "capture"] as const
type Name = (typeof NAMES)[number]
/** Transports as events, the API and the code name them. */
type Stored = Exclude<Name, "sandbox">

export const toStored = (name: Name): Stored => (name === "sandbox" ? "capture" : name)
export const fromStored = (stored: Stored): Exclude<Name, "capture"> => (stored === "capture" ? "sandbox" : stored)

/** Warning for somebody who used the former name; it works for one more release. */
export const FORMER_NAME = "capture is now called sandbox. The old name still works in this release; use sandbox."
