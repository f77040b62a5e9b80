/** Message that every contender sends: a receipt in HTML and plain text, 1.5 KB together. */
export const SUBJECT = "Your receipt from Acme"
const item = (n: number) => `Item ${n}: one left-handed screwdriver, blue, with its box and papers`
export const TEXT = `Thank you for your order.\n\n${[1, 2, 3, 4].map(item).join("\n")}\n\nThe people of Acme\n`
export const HTML = `<!doctype html><html><body><h1>Thank you</h1><p>for your order.</p><ul>${[1, 2, 3, 4, 5, 6]
  .map((n) => `<li><b>${n}.</b> ${item(n)}</li>`)
  .join("")}</ul><p style="color:#666">The people of Acme</p></body></html>`
export const FROM = { name: "Acme", address: "hi@acme.test" }
export const recipient = (n: number) => `user${n}@example.org`
