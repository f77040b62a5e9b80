import * as Text from "@waybill/domain/values/Text"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Blocklists from "@waybill/mail/source/Blocklists"
import * as SourceText from "@waybill/mail/source/SourceText"
import { Schema } from "effect"

/** An address of SOURCE_ADDRESSES, as `address` or `address=name`. */
export const SourceEntry = Text.parsed(
  Schema.Struct({ address: Schema.String, name: Schema.NullOr(Schema.String) }),
  {
    description: "An IP address of this host, with =name for its name in EHLO",
    examples: ["192.0.2.7=mail.example.org"],
  },
  SourceText.parse,
  ({ address, name }) => (name === null ? address : `${address}=${name}`),
)
export type SourceEntry = typeof SourceEntry.Type

/** Word for the large blocklists. */
const LARGE = "large"

/** A zone of BLOCKLISTS, or the word for the large ones. */
export const Zone = Schema.Union([Schema.Literal(LARGE), DomainName.FromText])

export const zonesOf = (zones: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(zones.flatMap((zone) => (zone === LARGE ? Blocklists.LARGE : [zone]))),
]
