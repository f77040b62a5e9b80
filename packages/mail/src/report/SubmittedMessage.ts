/** One address of a header, both parts as written there. */
export interface SubmittedMailbox {
  readonly address: string
  readonly name: string
}

export interface SubmittedFile {
  readonly filename: string
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly contentId: string | null
  /** Whether it is another form of the text, such as a meeting invitation. */
  readonly isAlternative: boolean
  /** Whether it is the message itself, signed or encrypted as a whole: its content fields and its body, byte for byte. */
  readonly isEntity: boolean
}

/** A message as a mail program submits it, before any rule is applied. */
export interface SubmittedMessage {
  readonly from: ReadonlyArray<SubmittedMailbox>
  readonly to: ReadonlyArray<SubmittedMailbox>
  readonly cc: ReadonlyArray<SubmittedMailbox>
  readonly replyTo: ReadonlyArray<SubmittedMailbox>
  /** The first Subject, when there are several. */
  readonly subject: string
  readonly subjects: number
  /** All other headers in order, repeated ones included. */
  readonly headers: ReadonlyArray<Field>
  readonly html: string | null
  readonly text: string | null
  readonly files: ReadonlyArray<SubmittedFile>
}

export interface Field {
  readonly name: string
  readonly value: string
}
