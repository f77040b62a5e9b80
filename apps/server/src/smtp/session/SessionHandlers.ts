import type { MessageStream } from "./MessageStream.ts"
import type { Reply } from "./Replies.ts"

export interface SmtpClient {
  readonly id: string
  readonly address: string
  /** Bytes of the message, as the client has declared them by SIZE. */
  readonly size?: number
}

export interface Transaction<Login> extends SmtpClient {
  readonly login: Login
  readonly from: string
  readonly recipients: ReadonlyArray<string>
  /** Name that the client gave in EHLO. */
  readonly helo: string | null
  /** Version of TLS, such as TLSv1.3; null without it. */
  readonly tls: string | null
}

/** Decisions about logins, addresses and messages. Each calls `done` once, at once or later. */
export interface SessionHandlers<Login> {
  /** `undefined` if clients do not log in. */
  readonly login:
    | ((password: string, client: SmtpClient, done: (answer: Reply | { readonly login: Login }) => void) => void)
    | undefined
  readonly mail: (client: SmtpClient, login: Login | undefined, done: (refusal?: Reply) => void) => void
  readonly recipient: (address: string, client: SmtpClient, done: (refusal?: Reply) => void) => void
  /** Whether a recipient shows who the client is: false for an address that anybody knows. */
  readonly identifies: (address: string) => boolean
  /** Returns the refusal of a message of this size if there is no space for it now: its bytes would come in vain. */
  readonly refusesSize: (size: number, client: SmtpClient, recipients: ReadonlyArray<string>) => Reply | undefined
  /** Reads a message to its end, and calls `done` after it; not at all if the client leaves before. */
  readonly message: (message: MessageStream, transaction: Transaction<Login>, done: (reply: Reply) => void) => void
  /** Called with an error that only a mistake in the server's code can cause. */
  readonly onDefect: (cause: unknown) => void
}
