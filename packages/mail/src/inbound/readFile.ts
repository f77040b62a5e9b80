import * as MimeReader from "../mime/MimeReader.ts"

export interface Input {
  readonly bytes: Uint8Array
  /** Place of the file among those of the mail. */
  readonly nth: number
}

/** Returns the content of a file of a mail; undefined if there is none at this place. */
export const readFile = ({ bytes, nth }: Input): Uint8Array | undefined =>
  MimeReader.readIfSimple(bytes, { exact: true })?.files[nth]?.content
