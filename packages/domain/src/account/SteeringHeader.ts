import { Schema } from "effect"

/**
 * Headers that mail providers and mail servers obey: they replace or add recipients, choose the return path, the sending
 * address, the template or the time, turn tracking on, or pass by a list of suppressions. The envelope of a message would no
 * longer be the recipients of its request. An entry that ends in `-` is a prefix. Names are in lower case.
 */
export const NAMES: ReadonlyArray<string> = [
  // SendGrid, and services that copied its header. Its `to` replaces the recipients.
  "x-smtpapi",
  "x-sg-",
  // Amazon SES: configuration set, tags, the identity that sends, the return path.
  "x-ses-",
  // SparkPost, Bird and Momentum: copies to cc, bcc and archive, the pool of addresses.
  "x-msys-",
  "x-binding",
  // Mandrill: X-MC-BccAddress adds a recipient, X-MC-SendAt a time, X-MC-ReturnPathDomain a return path.
  "x-mc-",
  // Mailgun: delivery time, test mode that sends nothing, tracking, variables of recipients.
  "x-mailgun-",
  // Postmark: message stream, tracking, tag, metadata, and X-PM-KeepID.
  "x-pm-",
  // Mailjet: templates, an address for copies of errors, priority, deduplication.
  "x-mj-",
  "x-mailjet-",
  // Brevo: tag, template, and the address to send from.
  "x-mailin-",
  "x-sib-",
  "sender.ip",
  // Elastic Email: channel, pool and data that come back.
  "x-elasticemail-",
  "poolname",
  // SocketLabs: parts of the return path, metadata.
  "x-xsmessageid",
  "x-xsmailingid",
  "x-xsdata",
  // Resend.
  "resend-",
  "x-resend-",
  // Other services.
  "ahasend-",
  "x-alidm-",
  "x-apiheader",
  "x-clab-",
  "x-cmp-",
  "x-ignore-blacklist",
  "x-ignore-complaint",
  "x-ignore-hard",
  "x-ignore-unsubscribe",
  "x-lettermint-",
  "x-maileroo-",
  "x-mailersend-",
  "x-mailpace-",
  "x-ms-acsemail-",
  "x-mt-",
  "x-rm-",
  "x-sm-",
  "x-smtp2go-",
  "x-smtpcom-",
  // Tipimail: template, replacements, data, tags. ZeptoMail: tracking, a reference that comes back.
  "x-tm-",
  "x-unisender-go",
  "x-unisender-go-",
  // PowerMTA: the address to send from, selector and domain of the signature, the job by which an operator stops mail, the
  // id of reports, and the envelope of files that it picks up.
  "x-virtual-mta",
  "x-dkim-options",
  "x-job",
  "x-envid",
  "x-receiver",
  // GreenArrow, Postal, KumoMTA and ZoneMTA: the address, zone, tenant or tag of the mail.
  "x-greenarrow-",
  "x-postal-",
  "x-kumoref",
  "x-tenant",
  "x-sending-zone",
  // Exchange obeys these of a client that it trusts: they let mail pass by its filters.
  "x-ms-exchange-organization-",
  "x-ms-exchange-forest-",
  // RFC 2156: some servers keep the mail until then.
  "deferred-delivery",
]

const EXACT: ReadonlySet<string> = new Set(NAMES.filter((name) => !name.endsWith("-")))
const PREFIXES = NAMES.filter((name) => name.endsWith("-"))

/** An underscore counts as a hyphen, because programs that pass headers on as variables make no difference. */
const comparable = (name: string): string => name.toLowerCase().replaceAll("_", "-")

const matches = (name: string): boolean => EXACT.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))

/** Whether a provider or a mail server may obey this header. */
export const isSteering = (name: string): boolean => matches(comparable(name))

/** Maximum number of names that an operator can allow an account. */
export const MAX_ALLOWED = 50

const ALLOWABLE = /^[!-9;-~]{1,75}\*?$/u

/** Whether this is the name of such a header, or a family of them, as `X-PM-*`. */
const isAllowable = (name: string): boolean =>
  ALLOWABLE.test(name) &&
  (name.endsWith("*") ? PREFIXES.some((prefix) => comparable(name).startsWith(prefix)) : isSteering(name))

/** Names that an operator allows an account. A name that ends in `*` is a family. */
export const Allowed = Schema.Array(
  Schema.String.check(
    Schema.makeFilter(
      (name: string) =>
        isAllowable(name) ||
        "must be the name of a header that is refused, such as X-PM-Tag, or a family such as X-PM-*",
    ),
  ),
).check(Schema.isMaxLength(MAX_ALLOWED))

export const NONE_ALLOWED: ReadonlyArray<string> = []

/** Returns names in the form that is compared: in lower case, sorted, each once. */
export const normalize = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(names.map(comparable))].toSorted()

/** Returns the names of headers that steer a provider, as the message spells them: those that are allowed, and all others. */
export const sort = (
  headers: { readonly [name: string]: string },
  allowed: ReadonlyArray<string>,
): { readonly allowed: ReadonlyArray<string>; readonly refused: ReadonlyArray<string> } => {
  const steering = Object.keys(headers).filter(isSteering)
  if (steering.length === 0) return NONE
  const isAllowed = (name: string) => allowed.some((each) => covers(each, comparable(name)))
  return {
    allowed: steering.filter(isAllowed),
    refused: steering.filter((name) => !isAllowed(name)),
  }
}

const NONE = { allowed: NONE_ALLOWED, refused: NONE_ALLOWED }

const covers = (allowed: string, name: string): boolean =>
  allowed.endsWith("*") ? name.startsWith(allowed.slice(0, -1)) : name === allowed
