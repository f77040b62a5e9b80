import type { Network } from "@waybill/domain/values/Network"
import type { ReturnPath } from "@waybill/mail/dns/DomainRecords"
import { Context } from "effect"

export interface SubmissionAddress {
  /** Address that the listener is bound to; `null` if it is bound to every address. */
  readonly host: string | null
  readonly port: number
  /** Whether STARTTLS is offered. Without it, only programs on this machine can log in. */
  readonly tls: boolean
  /** Port on which TLS begins at once; `null` if there is none. */
  readonly tlsPort: number | null
}

export interface MailAddress {
  /** Address that the listener is bound to; `null` if it is bound to every address. */
  readonly host: string | null
  readonly port: number
}

/** The operator's decisions that concern the requests of all accounts. */
export class Instance extends Context.Service<
  Instance,
  {
    readonly transport: "capture" | "relay" | "direct" | "nodemailer"
    /** How bounces are routed back; `null` where this instance receives no mail. */
    readonly returnPath: ReturnPath | null
    /** Private networks that webhooks may reach. */
    readonly allowedNetworks: ReadonlyArray<Network>
    /** Private networks that attachments may be read from. */
    readonly attachmentNetworks: ReadonlyArray<Network>
    /** Address that clients reach this service under, as the operator set it; `null` if it is not set. */
    readonly baseUrl: string | null
    /** Whether an address for tracked links is set, so that opens and clicks can be tracked. */
    readonly tracks: boolean
    /** CNAME target for customers' tracking domains; `null` where those are not enabled. */
    readonly trackingHost: string | null
    /** Name of the server that receives mail: what the MX records of customers' domains point to. */
    readonly mailHost: string
    /** Domain below which every account has addresses without DNS of its own. */
    readonly inboundDomain: string
    /** Address on which this process accepts mail over SMTP; `null` if it does not. */
    readonly submission: SubmissionAddress | null
  }
>()("@waybill/server/settings/Instance") {}

/** Settings of the operator for the records of domains. */
export type RecordSettings = Pick<Instance["Service"], "returnPath" | "trackingHost" | "mailHost">
/** Address on which this process receives mail; `null` if it does not, as where another program has the usual port. */
export const ReceivesMailAt = Context.Reference<MailAddress | null>(
  "@waybill/server/settings/Instance/ReceivesMailAt",
  {
    defaultValue: () => null,
  },
)
