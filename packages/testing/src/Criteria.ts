/** Properties that a message must have. A text is compared as a whole, addresses without regard to case. */
export interface Criteria {
  /** Any of its recipients, also of `cc` and `bcc`. */
  readonly to?: string | RegExp
  readonly from?: string | RegExp
  readonly subject?: string | RegExp
}

const isLike = (wanted: string | RegExp | undefined, text: string): boolean =>
  wanted === undefined || (typeof wanted === "string" ? wanted === text : text.search(wanted) !== -1)

const isAddress = (wanted: string | RegExp | undefined, address: string): boolean =>
  typeof wanted === "string" ? wanted.toLowerCase() === address.toLowerCase() : isLike(wanted, address)

export const matches = (
  { from, subject, to }: Criteria,
  mail: { readonly from: string; readonly subject: string; readonly recipients: ReadonlyArray<string> },
): boolean =>
  isLike(subject, mail.subject) &&
  isAddress(from, mail.from) &&
  (to === undefined || mail.recipients.some((address) => isAddress(to, address)))

const show = (value: string | RegExp): string => (typeof value === "string" ? value : String(value))

/** Describes criteria for people: ` to ana@example.org with the subject "Hello"`. */
export const describe = ({ from, subject, to }: Criteria): string =>
  [
    ...(from === undefined ? [] : [` from ${show(from)}`]),
    ...(to === undefined ? [] : [` to ${show(to)}`]),
    ...(subject === undefined ? [] : [` with the subject ${typeof subject === "string" ? `"${subject}"` : subject}`]),
  ].join("")
