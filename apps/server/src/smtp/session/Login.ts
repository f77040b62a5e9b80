import * as Replies from "./Replies.ts"

/** A step of a login: a password to check, a question to the client, or the reply that ends it. */
export type Step =
  | { readonly _tag: "Password"; readonly password: string }
  | { readonly _tag: "Question"; readonly reply: Replies.Reply; readonly next: (line: string) => Step }
  | { readonly _tag: "End"; readonly reply: Replies.Reply }

export const MECHANISMS = ["PLAIN", "LOGIN"]

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f-\x9f]/u

const end = (words: string): Step => ({ _tag: "End", reply: Replies.of(501, "5.5.4", words) })

/** Asks for a line, by which the client can also give up (RFC 4954 §4). */
const ask = (question: string, next: (line: string) => Step): Step => ({
  _tag: "Question",
  reply: { code: 334, message: question },
  next: (line) => (line.trim() === "*" ? end("Authentication aborted") : next(line)),
})

const decoded = (text: string): string => Buffer.from(text.trim(), "base64").toString()

const INVALID = "Error: invalid userdata"

/** RFC 4616: an identity to act as, a name and a password. Any name will do, but none that breaks a line. */
const plain = (line: string): Step => {
  const [identity = "", name = "", password, ...more] = decoded(line).split("\0")
  if (password === undefined || more.length > 0 || CONTROL.test(identity) || CONTROL.test(name)) return end(INVALID)
  return { _tag: "Password", password }
}

const loginName = (line: string): Step => {
  const name = decoded(line)
  if (name === "") return end("Error: missing username")
  if (CONTROL.test(name)) return end(INVALID)
  return ask("UGFzc3dvcmQ6", (password) => ({ _tag: "Password", password: decoded(password) }))
}

/** Begins a login by AUTH with its mechanism, and perhaps the first response. */
export const begin = (command: string): Step => {
  const [, mechanism = "", response, ...more] = command.trim().split(/\s+/u)
  switch (mechanism.toUpperCase()) {
    case "PLAIN":
      if (more.length > 0) return end("Error: syntax: AUTH PLAIN token")
      return response === undefined ? ask("", plain) : plain(response)
    case "LOGIN":
      if (more.length > 0) return end("Error: syntax: AUTH LOGIN")
      return response === undefined ? ask("VXNlcm5hbWU6", loginName) : loginName(response)
    default:
      return { _tag: "End", reply: Replies.of(504, "5.5.4", "Error: Unrecognized authentication type") }
  }
}
