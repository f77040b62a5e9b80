import { customer, operator, type Group } from "./Bound.ts"

const LARGE = "apps/server/src/inbound/LargeMails.ts"
const IMAGES = "packages/mail/src/inbound/withImages.ts"
const INBOUND = "apps/server/src/smtp/InboundMail.ts"
const INBOUND_SETTINGS = "apps/server/src/settings/InboundSettings.ts"
const HEADING = "packages/mail/src/inbound/Heading.ts"

/** Bounds of received mail. */
export const inboundBounds: Group = {
  title: "Received mail",
  bounds: [
    customer("Recipients of a mail", "MAX_RECIPIENTS", INBOUND, "452 in SMTP"),
    customer("Servers that a mail may have passed", "MAX_HOPS", INBOUND, "554 5.4.6"),
    customer(
      "Unknown recipients of an IPv4 address or IPv6 /64 in 10 minutes",
      "MAX_GUESSES",
      "apps/server/src/inbound/Guesses.ts",
      "450 4.7.1 for all its recipients",
    ),
    customer("Mail of an account and UTC day", "MAX_BYTES_PER_DAY", INBOUND, "452 4.2.2"),
    customer("Size that a mail counts as at least", "LEAST_COUNTED_BYTES", INBOUND, "it counts as more"),
    operator("Bytes of mail that a process reads at once", "MAX_BYTES_HELD", INBOUND, "452 4.3.1"),
    operator("Bytes of a mail that waits for no place", "SMALL_BYTES", LARGE, "it waits for one of four places"),
    operator("Time that a large mail waits for a place", "PLACE_WITHIN_MS", LARGE, "452 4.3.1"),
    operator("Large mails that wait for a place", "MAX_WAITING", LARGE, "452 4.3.1"),
    operator("Time of a large mail with a place, while other networks wait", "LONGEST_TURN_MS", LARGE, "452 4.3.1"),
    operator("The same while many networks wait, at least", "SHORTEST_TURN_MS", LARGE, "452 4.3.1"),
    operator(
      "Bytes per second of a mail that holds what others wait for: a place, or one of the last connections",
      "LEAST_BYTES_PER_SECOND",
      LARGE,
      "452 4.3.1, or 421",
    ),
    operator("Size of a mail, by default", "DEFAULT_MAX_BYTES", INBOUND_SETTINGS, "552 5.3.4"),
    operator("Days that a mail is kept as it came, by default", "DEFAULT_DAYS", INBOUND_SETTINGS, "removed"),
    customer("Attachments of a record", "MAX_ATTACHMENTS", HEADING, "`complete: false`"),
    customer("People of a header of a record", "MAX_PEOPLE", HEADING, "`complete: false`"),
    customer("References of a record", "MAX_REFERENCES", HEADING, "`complete: false`"),
    customer(
      "Names that are looked up to judge the sender of a mail",
      "MAX_LOOKUPS",
      "packages/mail/src/reading/Authentication.ts",
      "`temperror`",
    ),
    customer(
      "Time in which the sender of a mail is judged, for which its 250 waits",
      "JUDGED_WITHIN_SECONDS",
      "packages/mail/src/reading/Authentication.ts",
      "`temperror`",
    ),
    customer(
      "Signatures of a record",
      "MAX_SIGNATURES",
      "packages/mail/src/inbound/Sender.ts",
      "left out of the record",
    ),
    customer(
      "Mails that a filtered page examines",
      "MAX_EXAMINED",
      "packages/store/src/readmodels/ExaminedPage.ts",
      "a cursor before the page is full",
    ),
    customer(
      "Routes of an account",
      "MAX_ROUTES",
      "packages/domain/src/inbound/InboundRefusal.ts",
      "422 `too_many_routes`",
    ),
    customer(
      "Addresses of `Reply-To` that an answer goes to",
      "MAX_ADDRESSES",
      "packages/domain/src/inbound/Reply.ts",
      "its first ones",
    ),
    customer("Addresses of a forward", "MAX_TARGETS", "packages/domain/src/inbound/Forward.ts", "400"),
    customer(
      "Mails that routes of an account forward in a minute",
      "MAX_PER_MINUTE",
      "apps/server/src/inbound/Forwarding.ts",
      "450 4.7.1 in SMTP",
    ),
    customer(
      "Percent of the monthly volume that mail of strangers is forwarded to on a UTC day",
      "MAX_PERCENT_PER_DAY",
      "apps/server/src/inbound/ForwardVolume.ts",
      "`forward_volume`",
    ),
    customer(
      "Header of a mail that is forwarded",
      "MAX_HEADER_BYTES",
      "packages/mail/src/dkim/ArcSeal.ts",
      "the forward fails",
    ),
    customer("Fields of such a header", "MAX_FIELDS", "packages/mail/src/dkim/ArcSeal.ts", "forwarded without a seal"),
    customer(
      "Times that a mail may be forwarded by this installation",
      "MAX_MARKS",
      "packages/mail/src/tokens/ForwardMark.ts",
      "554 5.4.6",
    ),
    customer(
      "Receiving addresses that are followed to find a circle of forwards",
      "MAX_FOLLOWED",
      "apps/server/src/inbound/ForwardLoops.ts",
      "422 `forward_loop`",
    ),
    customer("Mails of a thread", "MAX_THREAD", "packages/api/src/groups/Inbound.ts", "its newest"),
    customer(
      "Bytes of a text in a call",
      "MAX_TEXT_BYTES",
      "apps/server/src/worker/webhooks/InboundBody.ts",
      "cut, with `truncated`",
    ),
    customer("Characters of images in an HTML", "MAX_IMAGE_CHARS", IMAGES, "further ones stay references"),
  ],
}
