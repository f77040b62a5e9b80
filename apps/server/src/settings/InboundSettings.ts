import { Config, Option } from "effect"
import { setting, whole } from "./Setting.ts"

/** Port on which mail comes in if none is set: on this machine only, and if nobody else has it. */
export const DEFAULT_MAIL_PORT = 2526
/** Largest received mail, unless the operator sets another bound. */
export const DEFAULT_MAX_BYTES = 25 * 1024 * 1024
/** Least and most that an operator can set. */
const LEAST_BYTES = 64 * 1024
const MOST_BYTES = 60 * 1024 * 1024
/** Days for which received mail is kept as it came, unless the operator sets another number. */
export const DEFAULT_DAYS = 30
const MOST_DAYS = 3_650

/** Settings of receiving mail. */
export const TABLE = {
  mailPort: setting(
    "MAIL_PORT",
    "Port on which mail comes in: bounces, complaints, reports, and mail to domains that receive; mail servers deliver to port 25.",
    "2526 on this machine only, if it is free",
    Config.option(Config.Port("MAIL_PORT")),
  ),
  inboundDomain: setting(
    "INBOUND_DOMAIN",
    "Domain below which every account has addresses without DNS of its own. Publish an MX record for *.INBOUND_DOMAIN.",
    "in. before RETURN_PATH_DOMAIN",
    Config.option(Config.String("INBOUND_DOMAIN")),
  ),
  inboundDays: whole(
    "INBOUND_DAYS",
    "Days for which received mail is kept as it came. Its record stays.",
    DEFAULT_DAYS,
    { minimum: 1, maximum: MOST_DAYS },
  ),
  inboundMaxBytes: whole("INBOUND_MAX_BYTES", "Largest mail that is received, in bytes.", DEFAULT_MAX_BYTES, {
    minimum: LEAST_BYTES,
    maximum: MOST_BYTES,
  }),
} as const

/** Domain of the addresses that every account has. */
export const domainOf = (settings: {
  readonly inboundDomain: Option.Option<string>
  readonly returnPathDomain: string
}): string => Option.getOrElse(settings.inboundDomain, () => `in.${settings.returnPathDomain}`).toLowerCase()
