/** Names of the transports, as people write and read them. */
export const NAMES = ["sandbox", "relay", "direct", "nodemailer"] as const
type Name = (typeof NAMES)[number]
/** Transports as events, the API and the code name them. */
type Stored = Exclude<Name, "sandbox"> | "capture"

export const toStored = (name: Name): Stored => (name === "sandbox" ? "capture" : name)
export const fromStored = (stored: Stored): Name => (stored === "capture" ? "sandbox" : stored)
